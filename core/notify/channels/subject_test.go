package channels

import "testing"

// TestSubjectIsCheckedAsTheChannelDoes: what the settings take, the channel takes as well.
func TestSubjectIsCheckedAsTheChannelDoes(t *testing.T) {
	for subject, good := range map[string]bool{
		"": true, "mailto:a@example.org": true, "https://example.org": true, "mailto:a@b@c": false, "mailto:a b@example.org": false,
		"mailto:": false, "https://": false, "http://example.org": false, "https://u:p@example.org": false, "A <a@example.org>": false,
	} {
		if err := checkSubject(subject); (err == nil) != good {
			t.Errorf("%q: %v", subject, err)
		}
	}
}

package httpd

import (
	"net/url"
	"testing"
)

func TestLegible(t *testing.T) {
	for target, want := range map[string]bool{
		"/a?q=x&y": true, "/a?q=%C3%BC": true, "/%C3%BC": true, "/a?q=%": true, "/a?q=%zz&b=%41": true, "/a?": true,
		"/a%00b": false, "/%FF": false, "/a?q=%00": false, "/a?q=%ff": false, "/a?%00=1": false, "/a?x=%zz&q=%00": false, "/a?q=\xff": false,
	} {
		u, err := url.Parse(target)
		if err != nil {
			t.Fatal(err)
		}
		if got := checkQueryText(u) == nil && checkPathText(u) == nil; got != want {
			t.Errorf("%q: %v", target, got)
		}
	}
}

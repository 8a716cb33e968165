package notice

import "testing"

// TestLinksLeadToThePages: links work, whether or not the public base URL names the path of the pages.
func TestLinksLeadToThePages(t *testing.T) {
	for _, tt := range []struct{ public, base, want string }{
		{"", "/containers", ""},
		{"https://a.example", "/", "https://a.example"},
		{"https://a.example/", "/", "https://a.example/"},
		{"https://a.example/x/", "/", "https://a.example/x/"},
		{"https://a.example", "/containers", "https://a.example/containers/"},
		{"https://a.example/containers", "/containers", "https://a.example/containers"},
		{"https://a.example/containers/", "/containers/", "https://a.example/containers/"},
		{"https://a.example/my-containers", "/containers", "https://a.example/my-containers/containers/"},
		{"https://a.example/ops/containers", "/containers", "https://a.example/ops/containers"},
		{"https://a.example", "https://c.example/containers", "https://a.example/containers/"},
		{"https://a.example", "https://c.example", "https://a.example"},
	} {
		if got := publicPages(tt.public, sitePath(tt.base)); got != tt.want {
			t.Errorf("%q with %q: %s, want %s", tt.public, tt.base, got, tt.want)
		}
	}
}

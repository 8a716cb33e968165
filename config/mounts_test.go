package config_test

import (
	"strings"
	"testing"

	"github.com/patchbay-dev/patchbay/config"
)

func TestParseBaseURL(t *testing.T) {
	cases := []struct{ text, host, path, err string }{
		{"/", "", "/", ""},
		{"/search", "", "/search", ""},
		{"/a/b-c_d.e~f", "", "/a/b-c_d.e~f", ""},
		{"https://Search.Example.com", "search.example.com", "/", ""},
		{"https://search.example.com:443/x", "search.example.com", "/x", ""},
		{"http://search.example.com:8080/x", "search.example.com:8080", "/x", ""},
		{"http://[::1]:80/", "[::1]", "/", ""},
		{"", "", "", "must be a path"},
		{"search", "", "", "must be a path"},
		{"ftp://x/y", "", "", "must be a path"},
		{"https:///x", "", "", "must be a path"},
		{"//x/y", "", "", "single slashes"},
		{"/search/", "", "", "must not end with /"},
		{"https://x/search/", "", "", "must not end with /"},
		{"/a/../b", "", "", ". or .."},
		{"/./b", "", "", ". or .."},
		{"/a?x=1", "", "", "no query"},
		{"/a#x", "", "", "no query"},
		{"https://x/?", "", "", "no query"},
		{"https://x/#", "", "", "no query"},
		{"https://u:p@x/", "", "", "no user"},
		{"/a b", "", "", "letters"},
		{"/a%2fb", "", "", "letters"},
		{"/:id", "", "", "letters"},
		{"/*all", "", "", "letters"},
		{"https://x/%2e%2e", "", "", "letters"},
	}
	for _, c := range cases {
		host, path, err := config.ParseBaseURL(c.text)
		if c.err != "" {
			if err == nil || !strings.Contains(err.Error(), c.err) {
				t.Errorf("%s: error = %v", c.text, err)
			}
			continue
		}
		if err != nil || host != c.host || path != c.path {
			t.Errorf("%s: %q %q %v", c.text, host, path, err)
		}
	}
}

func TestCheckMounts(t *testing.T) {
	cases := map[string]struct {
		a, b, want string
	}{
		"OK":          {"/", "/search", ""},
		"Below":       {"/a", "/a/b", ""},
		"OtherHost":   {"https://a.example.com", "https://b.example.com", ""},
		"HostAndAny":  {"/", "https://b.example.com", ""},
		"Same":        {"/a", "/a", "Path taken twice"},
		"SameHost":    {"https://a.example.com/x", "https://A.example.com:443/x", "Path taken twice"},
		"System":      {"/", "/system", "Reserved path"},
		"Assets":      {"/", "https://a.example.com/assets/x", "Reserved path"},
		"Manifest":    {"/", "/manifest.webmanifest", "Reserved path"},
		"Worker":      {"/", "/sw.js", "Reserved path"},
		"WellKnown":   {"/", "/.well-known/x", "Reserved path"},
		"Similar":     {"/", "/systems", ""},
		"Malformed":   {"/", "x", "Invalid base_url"},
		"FirstBroken": {"x", "/a", "Invalid base_url"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			ds := config.CheckMounts([]config.Mount{{Service: "a", BaseURL: c.a}, {Service: "b", BaseURL: c.b}})
			if c.want == "" && ds != nil || c.want != "" && (len(ds) != 1 || ds[0].Summary != c.want) {
				t.Errorf("got %v", ds)
			}
		})
	}
}

package image_test

import (
	"strings"
	"testing"

	"github.com/patchbay-dev/patchbay/core/services/containers/image"
)

const digest = "sha256:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"

func TestParse(t *testing.T) {
	for _, tt := range []struct{ in, repo, tag, digest, full string }{
		{"nginx", "docker.io/library/nginx", "latest", "", "docker.io/library/nginx:latest"},
		{"nginx:1.25", "docker.io/library/nginx", "1.25", "", "docker.io/library/nginx:1.25"},
		{"a/b", "docker.io/a/b", "latest", "", "docker.io/a/b:latest"},
		{"localhost/app:1", "localhost/app", "1", "", "localhost/app:1"},
		{"localhost:5055/demo/app", "localhost:5055/demo/app", "latest", "", "localhost:5055/demo/app:latest"},
		{"reg.example/x@" + digest, "reg.example/x", "", digest, "reg.example/x@" + digest},
		{"index.docker.io/a/b:2", "docker.io/a/b", "2", "", "docker.io/a/b:2"},
	} {
		r, err := image.Parse(tt.in)
		if err != nil || r.Repo() != tt.repo || r.Tag != tt.tag || r.Digest != tt.digest || r.String() != tt.full {
			t.Errorf("%s: %+v, %v", tt.in, r, err)
		}
	}
	for _, bad := range []string{"", " ", "A/B", "a b", "x:", "x@sha256:12", strings.Repeat("a", 2000)} {
		if r, err := image.Parse(bad); err == nil {
			t.Errorf("%q was read as %+v", bad, r)
		}
	}
}

func TestDigestOf(t *testing.T) {
	other := "sha256:" + strings.Repeat("b", 64)
	for name, tt := range map[string]struct {
		in   []string
		want string
	}{
		"none":          {nil, ""},
		"the one":       {[]string{"nginx@" + digest}, digest},
		"other repo":    {[]string{"other@" + other, "docker.io/library/nginx@" + digest}, digest},
		"said twice":    {[]string{"nginx@" + digest, "library/nginx@" + digest}, digest},
		"two of a repo": {[]string{"nginx@" + digest, "nginx@" + other}, ""},
	} {
		if got := image.DigestOf("docker.io/library/nginx", tt.in); got != tt.want {
			t.Errorf("%s: %q", name, got)
		}
	}
	if !image.ValidDigest(digest) || image.ValidDigest("sha256:xyz") || !image.ValidTag("1.2-alpine") || image.ValidTag("a b") || image.ValidTag("") {
		t.Error("tags and digests are told apart wrongly")
	}
}

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
		{"reg.example/x:1.25@" + digest, "reg.example/x", "1.25", digest, "reg.example/x:1.25@" + digest},
		{"nginx:1@" + digest, "docker.io/library/nginx", "1", digest, "docker.io/library/nginx:1@" + digest},
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

func TestSameRepo(t *testing.T) {
	for _, tt := range []struct {
		repo, name string
		want       bool
	}{
		{"docker.io/library/nginx", "nginx", true}, {"docker.io/library/nginx", "library/nginx", true},
		{"docker.io/library/nginx", "docker.io/library/nginx", true},
		{"docker.io/a/b", "a/b", true}, {"docker.io/a/b", "index.docker.io/a/b", true}, {"docker.io/a/b", "b", false},
		{"docker.io/a/nginx", "nginx", false},
		{"localhost:5000/a", "localhost:5000/a", true}, {"localhost:5000/a", "a", false}, {"ghcr.io/a/b", "a/b", false},
	} {
		if got := image.SameRepo(tt.repo, tt.name); got != tt.want {
			t.Errorf("%s and %s: %v", tt.repo, tt.name, got)
		}
	}
}

func TestTagsAndDigests(t *testing.T) {
	if !image.ValidDigest(digest) || image.ValidDigest("sha256:xyz") || !image.ValidTag("1.2-alpine") || image.ValidTag("a b") ||
		image.ValidTag("") {
		t.Error("tags and digests are told apart wrongly")
	}
}

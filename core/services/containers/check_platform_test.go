package containers

import (
	"testing"

	"github.com/patchbay-dev/patchbay/core/internal/testing/fake"
	"github.com/patchbay-dev/patchbay/sdk/registry"
)

// TestAnotherArchitectureIsNoCandidate: an index whose manifest for the host's platform is the one that runs is no new version, also if
// nobody has read the index that runs before.
func TestAnotherArchitectureIsNoCandidate(t *testing.T) {
	for name, tt := range map[string]struct {
		amd64     int
		there     bool
		candidate bool
	}{
		"another architecture was built":       {1, true, false},
		"the host's was built":                 {2, true, true},
		"the registry no longer has what runs": {1, false, true},
	} {
		t.Run(name, func(t *testing.T) {
			e := newEnv(t)
			e.project("blog", 1, map[string]string{"web": webRepo + ":1"})
			if tt.there {
				e.registry.Set(webRepo, "old", fake.Image{Digest: digest(1), Platforms: platforms(1)})
			}
			e.publish(webRepo+":1", 2, func(img *fake.Image) {
				img.Platforms = []registry.Platform{{OS: "linux", Arch: "amd64", Digest: made256("amd64", tt.amd64)},
					{OS: "linux", Arch: "arm64", Variant: "v8", Digest: made256("arm64", 2)}}
			})
			e.discovered()
			for range 2 {
				if job, _ := e.checked(); job.Status != "success" {
					t.Fatalf("%+v", job)
				}
				web := e.serviceOf("blog", "web")
				if (web.CandidateDigest != "") != tt.candidate || web.CheckError != "" {
					t.Errorf("the candidate is %q, %q", web.CandidateDigest, web.CheckError)
				}
			}
		})
	}
}

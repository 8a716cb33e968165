package containers

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/patchbay-dev/patchbay/core/internal/testing/fake"
	"github.com/patchbay-dev/patchbay/core/services/containers/candidate"
	"github.com/patchbay-dev/patchbay/core/services/containers/project"
	"github.com/patchbay-dev/patchbay/sdk/registry"
)

// inferred has the version behind what web runs looked for, and gives the snapshot.
func (e *env) inferred() *candidate.Snapshot {
	e.Helper()
	id := e.serviceOf("blog", "web").ID
	_, snap, err := e.svc.DigestTags(context.Background(), id, "")
	e.must(err)
	if snap == nil {
		e.svc.AwaitVersions(context.Background(), []string{digest(1)}, patience)
		_, snap, err = e.svc.DigestTags(context.Background(), id, "")
		e.must(err)
	}
	return snap
}

// TestInference: the newest versions are asked for first, the search ends with the one that fits and its shorter spellings, and what
// was found holds for a week.
func TestInference(t *testing.T) {
	forEach(t, func(t *testing.T, e *env) {
		e.project("blog", 1, map[string]string{"web": webRepo + ":latest"})
		for tag, n := range map[string]int{"latest": 1, "2.0.0": 9, "1.4.2": 1, "1.4": 1, "1": 1, "1.4.1": 8, "1.3.0": 7, "1.2.0": 6, "edge": 5} {
			e.registry.Set(webRepo, tag, fakeImage(n))
		}
		e.discovered()
		e.inferring()
		snap := e.inferred()
		if snap == nil || snap.ResolvedTag != "1.4.2" || !cmp.Equal(snap.Tags, []string{"1.4.2", "1.4", "1"}) {
			t.Fatalf("%+v", snap)
		}
		for _, tag := range []string{"1.4.1", "1.3.0", "1.2.0"} {
			if slices.Contains(e.resolves(), webRepo+":"+tag) {
				t.Errorf("%s was asked for though the version was found", tag)
			}
		}
		if web := e.serviceOf("blog", "web"); web.RuntimeVersion != "1.4.2" {
			t.Errorf("the service has the version %q", web.RuntimeVersion)
		}
		before := len(e.resolves())
		if e.advance(6 * 24 * time.Hour); e.inferred() == nil || len(e.resolves()) != before {
			t.Error("a snapshot of six days is looked for again")
		}
		if e.advance(2 * 24 * time.Hour); e.inferred() == nil || len(e.resolves()) == before {
			t.Error("a snapshot of eight days still holds")
		}
	})
}

// TestInferenceFallsBack: without a tag that fits, the label of the image counts; where no tag could be asked for, the search rests.
func TestInferenceFallsBack(t *testing.T) {
	e := newEnv(t)
	e.project("blog", 1, map[string]string{"web": webRepo + ":latest"})
	labelled := fakeImage(1)
	labelled.Config = registry.ImageConfig{Labels: map[string]string{project.LabelVersion: " 3.1.4 "}}
	e.registry.Set(webRepo, "latest", labelled)
	e.registry.Set(webRepo, "9.9.9", fakeImage(9))
	e.discovered()
	e.inferring()
	if snap := e.inferred(); snap == nil || snap.ResolvedTag != "3.1.4" || len(snap.Tags) != 0 {
		t.Errorf("%+v", snap)
	}
	e.advance(8 * 24 * time.Hour)
	// The list of tags comes, and then nothing more.
	e.registry.Fail(imageHost, nil, fake.RegistryUnreachable(webRepo))
	if snap := e.inferred(); snap == nil || snap.ResolvedTag != "" || snap.Scan.Error != 1 || snap.Scan.OK != 0 {
		t.Errorf("%+v", snap)
	}
	before := len(e.resolves())
	if e.advance(5 * time.Minute); e.inferred() == nil || len(e.resolves()) != before {
		t.Error("the search does not rest after it failed whole")
	}
	if e.advance(6 * time.Minute); e.inferred().ResolvedTag != "3.1.4" {
		t.Error("the search rests for too long")
	}
}

package containers

import (
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/patchbay-dev/patchbay/core/internal/testing/fake"
	"github.com/patchbay-dev/patchbay/core/services/containers/project"
)

// TestRegistriesAreAskedWhileTheEngineAnswers: a check does not wait for the engine before it asks about what ran when that was seen last.
func TestRegistriesAreAskedWhileTheEngineAnswers(t *testing.T) {
	e := newEnv(t, withTap)
	e.blog()
	asked := make(chan struct{})
	var once sync.Once
	e.registry.Before(func(fake.RegistryCall) { once.Do(func() { close(asked) }) })
	before := len(e.resolves())
	e.asEngine.(*tap).before = func() {
		select {
		case <-asked:
		case <-time.After(patience):
			t.Error("the registry is not asked before the engine has answered")
		}
	}
	if job, sum := e.checked(); job.Status != "success" || sum.ServicesChecked != 1 {
		t.Fatalf("%+v %+v", job, sum)
	}
	if n := len(e.resolves()) - before; n != 1 {
		t.Errorf("the registry was asked %d times", n)
	}
}

// TestAskedAheadOfNews: where another image runs than was seen last, an answer that came before the engine's is asked for once more if it
// has no details and these are needed.
func TestAskedAheadOfNews(t *testing.T) {
	e := newEnv(t, withTap)
	e.project("blog", 1, map[string]string{"web": webRepo + ":1"})
	e.publish(webRepo+":1", 1)
	e.discovered()
	img := e.image(webRepo, 2)
	img.RepoTags = []string{webRepo + ":1"}
	e.engine.AddImage(img)
	e.vanish("blog")
	e.container("blog", "web", webRepo+":1")
	// The engine answers after the registry.
	e.asEngine.(*tap).before = func() {
		for began := time.Now(); len(e.resolves()) == 0 && time.Since(began) < patience; {
			time.Sleep(time.Millisecond)
		}
	}
	e.checked()
	web := e.serviceOf("blog", "web")
	if web.RuntimeDigest != digest(2) || web.CandidateDigest != digest(1) || web.CandidateMatch != project.ArchMatch ||
		!slices.Equal(e.resolves(), []string{webRepo + ":1", webRepo + ":1", webRepo + "@" + digest(2)}) {
		t.Errorf("%+v, asked %v", web, e.resolves())
	}
}

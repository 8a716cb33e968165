package containers

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/services/containers/change"
	"github.com/patchbay-dev/patchbay/core/services/containers/host"
	"github.com/patchbay-dev/patchbay/core/services/containers/project"
	"github.com/patchbay-dev/patchbay/core/services/containers/record"
	"github.com/patchbay-dev/patchbay/core/services/containers/work"
)

// TestOneRequestForEachImage: services with the same image cost one request, and an unchanged image one at the next check.
func TestOneRequestForEachImage(t *testing.T) {
	e := newEnv(t)
	const projects, images = 10, 4
	for i := range projects {
		all := map[string]string{}
		for j := range images {
			all[fmt.Sprint("s", j)] = fmt.Sprintf("%s/acme/i%d:latest", imageHost, j)
		}
		e.project(fmt.Sprint("p", i), 1, all)
	}
	for j := range images {
		e.publish(fmt.Sprintf("%s/acme/i%d:latest", imageHost, j), 2)
	}
	e.discovered()
	// What runs is asked about once, where its tag stands for something new.
	for _, want := range []int{2 * images, images} {
		before := len(e.resolves())
		if job, sum := e.checked(); job.Status != "success" || sum.ServicesChecked != projects*images {
			t.Fatalf("%+v", sum)
		}
		asked := e.resolves()[before:]
		slices.Sort(asked)
		if len(asked) != want || len(slices.Compact(asked)) != want {
			t.Errorf("asked %v", asked)
		}
	}
	known := []string{digest(1), digest(2)}
	slices.Sort(known)
	if diff := cmp.Diff(known, e.registry.Calls()[len(e.registry.Calls())-1].Known); diff != "" {
		t.Errorf("what is known is not said: %s", diff)
	}
}

// TestUnchangedNeedsNoDetails: what runs is known from the first check on, also where the engine knows only the digest of a
// platform; a digest that another service of the same image does not run needs its platforms.
func TestUnchangedNeedsNoDetails(t *testing.T) {
	last := func(e *env) (known []string) {
		for _, c := range e.registry.Calls() {
			if c.Method == "resolve" {
				known = c.Known
			}
		}
		return known
	}
	t.Run("the same digest", func(t *testing.T) {
		e := newEnv(t)
		e.project("blog", 1, map[string]string{"web": webRepo + ":1"})
		e.publish(webRepo+":1", 1)
		e.discovered()
		if e.checked(); !slices.Contains(last(e), digest(1)) || e.serviceOf("blog", "web").CandidateDigest != "" {
			t.Errorf("known at the first check: %v", last(e))
		}
	})
	t.Run("the digest of a platform", func(t *testing.T) {
		e := newEnv(t)
		img := e.image(webRepo, 5)
		img.RepoDigests, img.RepoTags = []string{webRepo + "@" + platforms(7)[0].Digest}, []string{webRepo + ":1"}
		e.engine.AddImage(img)
		e.file("blog/compose.yaml", composeText(map[string]string{"web": webRepo + ":1"}))
		e.container("blog", "web", webRepo+":1")
		e.registry.Set(webRepo, "1", fakeImage(7))
		e.discovered()
		e.checked()
		if e.checked(); !slices.Contains(last(e), digest(7)) || e.serviceOf("blog", "web").CandidateDigest != "" {
			t.Errorf("known at the second check: %v, candidate %q", last(e), e.serviceOf("blog", "web").CandidateDigest)
		}
	})
	t.Run("different digests of one image", func(t *testing.T) {
		e := newEnv(t)
		e.project("blog", 1, map[string]string{"web": webRepo + ":1"})
		e.project("shop", 2, map[string]string{"web": webRepo + ":1"})
		e.publish(webRepo+":1", 2)
		e.discovered()
		e.checked()
		if web := e.serviceOf("blog", "web"); web.CandidateDigest != digest(2) || web.CandidateMatch != project.ArchMatch ||
			e.serviceOf("shop", "web").CandidateDigest != "" {
			t.Errorf("%+v", web)
		}
	})
}

// TestPinnedTag: an image with a tag and a digest keeps its tag: it is shown, the registry is asked about it, and the answer is
// compared with what runs. It is not updated, since the files name the digest.
func TestPinnedTag(t *testing.T) {
	forEach(t, func(t *testing.T, e *env) {
		pinned := webRepo + ":1@" + digest(1)
		e.file("blog/compose.yaml", composeText(map[string]string{"web": pinned, "app": appRepo + "@" + digest(1)}))
		img := e.image(webRepo, 1)
		img.RepoTags, img.RepoDigests = []string{pinned}, []string{webRepo + "@" + digest(1), appRepo + "@" + digest(1)}
		e.engine.AddImage(img)
		e.container("blog", "web", pinned)
		e.publish(webRepo+":1", 1)
		e.publish(webRepo+":2", 5)
		e.discovered()
		e.checked()
		web := e.serviceOf("blog", "web")
		if web.Tag != "1" || web.Pinned != digest(1) || web.CandidateDigest != "" || !slices.Equal(e.resolves(), []string{webRepo + ":1"}) ||
			!slices.Equal(web.NewerTags, []string{"2"}) {
			t.Fatalf("%+v, asked %v", web, e.resolves())
		}
		e.publish(webRepo+":1", 2)
		_, sum := e.checked()
		d, st, err := e.svc.Service(t.Context(), web.ID)
		e.must(err)
		if d.Image.Ref != pinned || d.Image.Tag != "1" || d.Candidate == nil || d.Candidate.Digest != digest(2) ||
			d.Status != project.StatusPinned || !d.Pinned || d.Updatable() || st.Updates != 0 || sum.NewVersions.Count != 1 {
			t.Errorf("%+v, %+v, %d new versions", d, st, sum.NewVersions.Count)
		}
		_, err = e.svc.Update(t.Context(), requestOf(e.serviceOf("blog", "web")))
		if f := fault.As(err); err == nil || f.Code != fault.Conflict || f.Ext["reason"] != "pinned" {
			t.Errorf("an update: %v", err)
		}
		_, err = e.svc.Update(t.Context(), change.UpdateRequest{Scope: work.ScopeAll, Targets: requestTargets(e.serviceOf("blog", "web"))})
		if f := fault.As(err); err == nil || f.Ext["extraServiceIds"] == nil {
			t.Errorf("an update of everything: %v", err)
		}
	})
}

// requestTargets is the candidate of a service in a list.
func requestTargets(svc *record.Service) []project.Target {
	return []project.Target{{ServiceID: svc.ID, TargetTag: svc.Tag, TargetDigest: svc.CandidateDigest, PullTags: []string{}}}
}

// TestLocalImagesAreNotAskedFor: no registry hears of an image that was built or loaded on the host.
func TestLocalImagesAreNotAskedFor(t *testing.T) {
	const buildFile = "services:\n  web:\n    image: " + webRepo + ":1\n    build: .\n"
	for name, tt := range map[string]struct {
		file    string
		digests []string
		labels  map[string]string
		runs    bool
		asked   bool
	}{
		"loaded": {composeText(map[string]string{"web": webRepo + ":1"}), nil, nil, true, false},
		"pulled": {composeText(map[string]string{"web": webRepo + ":1"}), []string{webRepo + "@" + digest(1)},
			nil, true, true},
		"built": {buildFile, nil, nil, true, false},
		"built in a store with digests": {buildFile, []string{webRepo + "@" + digest(1)}, map[string]string{host.LabelProject: "blog"},
			true, false},
		"built and pushed and pulled here": {buildFile, []string{webRepo + "@" + digest(1)}, nil, true, true},
		"built and nothing runs":           {buildFile, nil, nil, false, false},
		"not built and nothing runs":       {composeText(map[string]string{"web": webRepo + ":1"}), nil, nil, false, true},
		"pulled and built by compose elsewhere": {composeText(map[string]string{"web": webRepo + ":1"}), []string{webRepo + "@" + digest(1)},
			map[string]string{host.LabelProject: "ci"}, true, true},
	} {
		t.Run(name, func(t *testing.T) {
			e := newEnv(t)
			e.file("blog/compose.yaml", tt.file)
			img := e.image(webRepo, 1)
			img.RepoTags, img.RepoDigests, img.Labels = []string{webRepo + ":1"}, tt.digests, tt.labels
			e.engine.AddImage(img)
			e.container("blog", "web", webRepo+":1")
			e.publish(webRepo+":1", 2)
			e.discovered()
			if !tt.runs {
				e.vanish("blog")
			}
			job, sum := e.checked()
			web := e.serviceOf("blog", "web")
			if asked := len(e.registry.Calls()) > 0; asked != tt.asked || job.Status != "success" || sum.ServicesFailed != 0 ||
				web.CheckError != "" || web.CheckedAt == 0 {
				t.Errorf("asked: %v; %+v %+v", asked, sum, web)
			}
		})
	}
}

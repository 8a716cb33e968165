package containers

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/patchbay-dev/patchbay/core/internal/testing/fake"
	"github.com/patchbay-dev/patchbay/core/services/containers/candidate"
	"github.com/patchbay-dev/patchbay/core/services/containers/project"
	"github.com/patchbay-dev/patchbay/core/services/containers/work"
	"github.com/patchbay-dev/patchbay/sdk/registry"
)

// resolves are the references that the registry was asked about.
func (e *env) resolves() (out []string) {
	for _, c := range e.registry.Calls() {
		if c.Method == "resolve" {
			out = append(out, c.Ref)
		}
	}
	return out
}

// TestCandidates: what counts as a new version, and what becomes of one.
func TestCandidates(t *testing.T) {
	forEach(t, func(t *testing.T, e *env) {
		e.project("blog", 1, map[string]string{"web": webRepo + ":1", "app": appRepo + ":1"})
		e.discovered()
		// The engine may know an image by the digest of its platform alone.
		byPlatform := e.image(appRepo, 5)
		byPlatform.RepoDigests, byPlatform.RepoTags = []string{appRepo + "@" + platforms(7)[0].Digest}, []string{appRepo + ":1"}
		e.engine.AddImage(byPlatform)
		e.vanish("blog")
		e.container("blog", "web", webRepo+":1")
		e.container("blog", "app", appRepo+":1")
		e.publish(webRepo+":1", 1)
		e.registry.Set(appRepo, "1", fakeImage(7))
		_, sum := e.checked()
		if web, app := e.serviceOf("blog", "web"), e.serviceOf("blog", "app"); web.CandidateDigest != "" || app.CandidateDigest != "" ||
			sum.ServicesWithCandidate != 0 {
			t.Errorf("what runs is no candidate: %q %q", web.CandidateDigest, app.CandidateDigest)
		}
		e.publish(webRepo+":1", 2)
		job, sum := e.checked()
		web := e.serviceOf("blog", "web")
		if web.CandidateDigest != digest(2) || web.CandidateTag != "1" || web.CandidateMatch != project.ArchMatch ||
			sum.NewVersions.Count != 1 || sum.HostPlatform != "linux/amd64" || job.Status != "success" {
			t.Errorf("the candidate: %+v, %+v", web, sum)
		}
		since := web.CandidateSince
		e.advance(time.Hour)
		if e.checked(); e.serviceOf("blog", "web").CandidateSince != since {
			t.Error("the same candidate is young again")
		}
		// While it is not known what runs, what is known stays.
		e.vanish("blog")
		e.container("blog", "app", appRepo+":1")
		if e.checked(); e.serviceOf("blog", "web").CandidateDigest != digest(2) {
			t.Error("the candidate of what does not run is gone")
		}
		e.container("blog", "web", webRepo+":1")
		// What is published again as it runs is no candidate any more.
		e.publish(webRepo+":1", 1)
		if e.checked(); e.serviceOf("blog", "web").CandidateDigest != "" {
			t.Error("the candidate stays though the tag stands for what runs")
		}
	})
}

// TestArchitectures: whether a candidate is made for the host, and that one which is not is left out of updates.
func TestArchitectures(t *testing.T) {
	for name, c := range map[string]struct {
		platforms []registry.Platform
		host      string
		match     string
		status    string
	}{
		"fits":            {platforms(2), "", project.ArchMatch, project.StatusUpdatable},
		"another":         {platforms(2)[1:], "", project.ArchMismatch, project.StatusArchMismatch},
		"unknown":         {nil, "", project.ArchUnknown, project.StatusHint},
		"attestation":     {append([]registry.Platform{{}}, platforms(2)...), "", project.ArchMatch, project.StatusUpdatable},
		"the host's own":  {platforms(2), "linux/arm64/v8", project.ArchMatch, project.StatusUpdatable},
		"another variant": {platforms(2), "linux/arm64/v6", project.ArchMismatch, project.StatusArchMismatch},
		"another system":  {platforms(2), "windows/amd64", project.ArchMismatch, project.StatusArchMismatch},
	} {
		t.Run(name, func(t *testing.T) {
			e := newEnv(t, func(e *env) { e.set.HostPlatform = c.host })
			e.project("blog", 1, map[string]string{"web": webRepo + ":1"})
			e.publish(webRepo+":1", 2, func(i *fake.Image) { i.Platforms = c.platforms })
			e.discovered()
			e.checked()
			d, _, err := e.svc.Service(t.Context(), e.serviceOf("blog", "web").ID)
			e.must(err)
			if d.Candidate == nil || d.Candidate.ArchMatch != c.match || d.Status != c.status {
				t.Errorf("%+v, status %s", d.Candidate, d.Status)
			}
		})
	}
}

// TestRegistryFaults: what goes wrong at a registry is told, keeps the candidate, and does not hold other services up.
func TestRegistryFaults(t *testing.T) {
	ref := webRepo + ":1"
	for name, c := range map[string]struct {
		fault error
		text  string
		calls int
	}{
		"unreachable": {fake.RegistryUnreachable(ref), "connect", 3},
		"denied":      {fake.RegistryDenied(ref), "credentials", 1},
		"missing":     {fake.RegistryMissing(ref), "no such image", 1},
	} {
		t.Run(name, func(t *testing.T) {
			forEach(t, func(t *testing.T, e *env) {
				e.twoHosts()
				before := len(e.registry.Calls())
				e.registry.Down(imageHost, c.fault)
				job, sum := e.checked()
				web, other := e.serviceOf("blog", "web"), e.serviceOf("blog", "other")
				if !strings.Contains(web.CheckError, c.text) || web.CandidateDigest != digest(2) || other.CheckError != "" ||
					other.CandidateDigest != digest(3) {
					t.Errorf("%q %q, %q %q", web.CheckError, web.CandidateDigest, other.CheckError, other.CandidateDigest)
				}
				if job.Status != "success" || sum.ServicesFailed != 1 || sum.ServicesChecked != 2 ||
					!strings.Contains(e.logs(job.ID), "warn blog / web: ") {
					t.Errorf("%s, %+v\n%s", job.Status, sum, e.logs(job.ID))
				}
				asked := 0
				for _, r := range e.registry.Calls()[before:] {
					if strings.HasPrefix(r.Ref, imageHost) && r.Method == "resolve" {
						asked++
					}
				}
				if asked != c.calls {
					t.Errorf("asked %d times, want %d", asked, c.calls)
				}
				e.registry.Down("other.example", c.fault)
				if job, _ := e.checked(); job.Status != "failed" {
					t.Errorf("nothing could be checked, and the job is %s", job.Status)
				}
				e.registry.Down(imageHost, nil)
				e.registry.Down("other.example", nil)
				if e.checked(); e.serviceOf("blog", "web").CheckError != "" {
					t.Error("the error stays after a check that succeeds")
				}
			})
		})
	}
}

// twoHosts is a project with services from two registries, both with a candidate.
func (e *env) twoHosts() {
	e.Helper()
	e.project("blog", 1, map[string]string{"web": webRepo + ":1", "other": "other.example/x:latest"})
	e.publish(webRepo+":1", 2)
	e.publish("other.example/x:latest", 3)
	e.discovered()
	if job, _ := e.checked(); job.Status != "success" {
		e.Fatalf("the check: %+v", job)
	}
}

// TestLimitedRegistry: a registry that limits requests is asked again after a pause, and left alone for long if that does not
// help; other registries are not touched by it.
func TestLimitedRegistry(t *testing.T) {
	limited := fake.RegistryLimited(webRepo+":1", 0)
	t.Run("for a moment", func(t *testing.T) {
		e := newEnv(t)
		e.twoHosts()
		e.registry.Fail(imageHost, limited, fake.RegistryLimited(webRepo+":1", time.Hour))
		began := time.Now()
		if _, sum := e.checked(); sum.ServicesFailed != 0 || time.Since(began) > 5*time.Second {
			t.Errorf("%d failed after %s", sum.ServicesFailed, time.Since(began))
		}
	})
	t.Run("after other failures", func(t *testing.T) {
		e := newEnv(t)
		e.twoHosts()
		before := len(e.resolves())
		down := fake.RegistryUnreachable(webRepo + ":1")
		e.registry.Fail(imageHost, down, limited, down, down, limited, down, down, down, down)
		e.checked()
		if asked := slices.DeleteFunc(e.resolves()[before:],
			func(ref string) bool { return !strings.HasPrefix(ref, imageHost) }); len(asked) != 3 {
			t.Errorf("asked %d times in all", len(asked))
		}
	})
	t.Run("for long", func(t *testing.T) {
		forEach(t, func(t *testing.T, e *env) {
			e.twoHosts()
			e.registry.Down(imageHost, limited)
			count := func() (own, others int) {
				for _, c := range e.registry.Calls() {
					if strings.HasPrefix(c.Ref, imageHost) {
						own++
					} else {
						others++
					}
				}
				return own, others
			}
			own, others := count()
			e.checked()
			own2, others2 := count()
			web := e.serviceOf("blog", "web")
			if own2-own != 3 || others2 == others || web.CandidateDigest != digest(2) || !strings.Contains(web.CheckError, "is rate limited") {
				t.Errorf("%d requests, %d to the other; %q %q", own2-own, others2-others, web.CandidateDigest, web.CheckError)
			}
			e.registry.Down(imageHost, nil)
			e.checked()
			own3, others3 := count()
			web = e.serviceOf("blog", "web")
			if own3 != own2 || others3 == others2 || !strings.Contains(web.CheckError, "next check after") {
				t.Errorf("while it is left alone: %d requests, %d to the other, %q", own3-own2, others3-others2, web.CheckError)
			}
			e.stop(e.queue, e.svc)
			e.start()
			if until := e.svc.CoolingHosts(t.Context())[imageHost]; !until.After(e.now()) {
				t.Errorf("after a restart it is left alone until %s", until)
			}
			e.checked()
			if own4, _ := count(); own4 != own3 || !strings.Contains(e.serviceOf("blog", "web").CheckError, "next check after") {
				t.Errorf("after a restart: %d requests, %q", own4-own3, e.serviceOf("blog", "web").CheckError)
			}
			e.advance(6*time.Hour + time.Second)
			if e.checked(); e.serviceOf("blog", "web").CheckError != "" {
				t.Errorf("after the pause: %q", e.serviceOf("blog", "web").CheckError)
			}
		})
	})
}

// TestUpdateDuringCheck: an update that ends while a check waits for the registry is not overwritten by what the check saw.
func TestUpdateDuringCheck(t *testing.T) {
	forEach(t, func(t *testing.T, e *env) {
		e.blog()
		asked, answer := make(chan struct{}), make(chan struct{})
		var once atomic.Bool
		e.registry.Before(func(fake.RegistryCall) {
			if once.CompareAndSwap(false, true) {
				close(asked)
				<-answer
			}
		})
		id, err := e.svc.Check(context.Background(), project.ScanRequest{Scope: work.ScopeAll})
		e.must(err)
		<-asked
		if job, _ := e.updated("blog", "web"); job.Status != "success" {
			t.Fatalf("the update: %+v", job)
		}
		close(answer)
		e.ended(id)
		if web := e.serviceOf("blog", "web"); web.CandidateDigest != "" || web.RuntimeDigest != digest(2) {
			t.Errorf("the check has overwritten the update: candidate %q, runs %q", web.CandidateDigest, web.RuntimeDigest)
		}
	})
}

// TestIgnoreRules: each kind of rule holds a candidate back, by its tag or by the version behind it.
func TestIgnoreRules(t *testing.T) {
	for name, c := range map[string]struct {
		kind, value, tag, version string
		held                      bool
	}{
		"exact tag": {"exact", "1", "1", "", true}, "another tag": {"exact", "2", "1", "", false},
		"exact version": {"exact", "1.4.2", "latest", "1.4.2", true},
		"prefix":        {"prefix", "1.4.", "latest", "1.4.2", true}, "another prefix": {"prefix", "1.5.", "latest", "1.4.2", false},
		"regex":         {"regex", `^1\.\d+\.2$`, "latest", "1.4.2", true},
		"another regex": {"regex", `beta`, "latest", "1.4.2", false}, "range": {"semver", ">=1.4 <2", "latest", "1.4.2", true},
		"another range":  {"semver", "^2", "latest", "1.4.2", false},
		"range on a tag": {"semver", "^1", "1.4.2", "", true}, "no version yet": {"semver", "^1", "latest", "", false},
	} {
		t.Run(name, func(t *testing.T) {
			e := newEnv(t)
			e.project("blog", 1, map[string]string{"web": webRepo + ":" + c.tag})
			e.publish(webRepo+":"+c.tag, 2)
			e.discovered()
			e.checked()
			web := e.serviceOf("blog", "web")
			e.must(e.svc.repo.UpdateService(t.Context(), web.ID, map[string]any{"candidate_version": c.version}, 1))
			id, err := e.svc.AddIgnoreRule(t.Context(),
				candidate.IgnoreRule{Enabled: true, Scope: candidate.IgnoreScope{Type: work.ScopeService, ServiceID: web.ID},
					Match: candidate.RuleMatch{Kind: c.kind, Value: c.value}})
			e.must(err)
			d, st, err := e.svc.Service(t.Context(), web.ID)
			e.must(err)
			if held := d.Ignore != nil && d.Ignore.RuleID == id && d.Status == project.StatusBlocked && st.Updates == 0; held != c.held {
				t.Errorf("held back: %v; %+v %s", held, d.Ignore, d.Status)
			}
			if _, sum := e.checked(); (sum.NewVersions.Count == 0) != c.held {
				t.Errorf("the check tells of %d new versions", sum.NewVersions.Count)
			}
		})
	}
}

// TestNewerTags: newer tags of the same family are told, and applied by nobody.
func TestNewerTags(t *testing.T) {
	e := newEnv(t)
	e.project("blog", 1, map[string]string{"web": webRepo + ":1.4-alpine", "app": appRepo + ":latest"})
	for i, tag := range []string{"1.4-alpine", "1.3-alpine", "1.5-alpine", "2.0-alpine", "1.5", "2.1-beta-alpine", "latest"} {
		e.publish(webRepo+":"+tag, i+1)
	}
	e.publish(appRepo+":latest", 1)
	e.registry.Set(appRepo, "9.9.9", fakeImage(9))
	e.discovered()
	e.checked()
	if diff := cmp.Diff([]string{"2.0-alpine", "1.5-alpine"}, e.serviceOf("blog", "web").NewerTags); diff != "" {
		t.Error(diff)
	}
	if app := e.serviceOf("blog", "app"); len(app.NewerTags) != 0 || app.CandidateDigest != "" {
		t.Errorf("a tag without a version: %v %q", app.NewerTags, app.CandidateDigest)
	}
}

// TestCheckWithoutEngine: without knowing what runs a check fails and changes nothing.
func TestCheckWithoutEngine(t *testing.T) {
	e := newEnv(t)
	e.blog()
	for _, op := range []string{"containers", "images"} {
		e.engine.Fail(op, errors.New("gone"))
		if job, _ := e.checked(); job.Status != "failed" || job.ResultReason == nil {
			t.Errorf("%s: %+v", op, job)
		}
		if web := e.serviceOf("blog", "web"); web.CandidateDigest != digest(2) || web.RuntimeDigest != digest(1) {
			t.Errorf("%s: %+v", op, web)
		}
	}
}

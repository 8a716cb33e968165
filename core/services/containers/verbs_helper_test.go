package containers

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/patchbay-dev/patchbay/core/services/containers/candidate"
	"github.com/patchbay-dev/patchbay/core/services/containers/change"
	"github.com/patchbay-dev/patchbay/core/services/containers/project"
	"github.com/patchbay-dev/patchbay/core/services/containers/record"
	"github.com/patchbay-dev/patchbay/core/services/containers/work"
)

// discovered runs a discovery now.
func (e *env) discovered() project.ScanResult {
	e.Helper()
	res, err := e.svc.DiscoverProjects(context.Background())
	e.must(err)
	return res
}

// stackOf and serviceOf find what discovery has made.
func (e *env) stackOf(project string) *record.Stack {
	e.Helper()
	stacks, err := e.svc.repo.ListStacks(context.Background())
	e.must(err)
	for i := range stacks {
		if stacks[i].Project == project {
			return &stacks[i]
		}
	}
	e.Fatalf("there is no stack %s", project)
	return nil
}

func (e *env) serviceOf(project, name string) *record.Service {
	e.Helper()
	list, err := e.svc.repo.ListStackServices(context.Background(), e.stackOf(project).ID)
	e.must(err)
	for i := range list {
		if list[i].Name == name {
			return &list[i]
		}
	}
	e.Fatalf("there is no service %s / %s", project, name)
	return nil
}

// ended waits for the end of a job.
func (e *env) ended(id string) Job {
	e.Helper()
	deadline := time.Now().Add(patience)
	for {
		j, err := e.queue.Get(context.Background(), id)
		e.must(err)
		if j.State.Final() {
			return jobView(&j)
		}
		if time.Now().After(deadline) {
			e.Fatalf("it does not end: %+v\n%s", jobView(&j), e.logs(id))
		}
		time.Sleep(2 * time.Millisecond)
	}
}

// checked runs a check of everything to its end.
func (e *env) checked() (Job, candidate.CheckSummary) {
	e.Helper()
	id, err := e.svc.Check(context.Background(), project.ScanRequest{Scope: work.ScopeAll})
	e.must(err)
	job := e.ended(id)
	var sum candidate.CheckSummary
	e.must(json.Unmarshal(job.Summary, &sum))
	return job, sum
}

// requestOf asks for the candidate of a service.
func requestOf(svc *record.Service) change.UpdateRequest {
	return change.UpdateRequest{Scope: work.ScopeService, ServiceID: svc.ID, TargetTag: svc.Tag, TargetDigest: svc.CandidateDigest,
		PullTags: &[]string{}}
}

// updated updates a service to its candidate, to the end.
func (e *env) updated(project, name string, change ...func(*change.UpdateRequest)) (Job, change.UpdateSummary) {
	e.Helper()
	req := requestOf(e.serviceOf(project, name))
	for _, f := range change {
		f(&req)
	}
	id, err := e.svc.Update(context.Background(), req)
	e.must(err)
	return e.summaryOf(id)
}

func (e *env) summaryOf(id string) (Job, change.UpdateSummary) {
	e.Helper()
	job := e.ended(id)
	var sum change.UpdateSummary
	e.must(json.Unmarshal(job.Summary, &sum))
	return job, sum
}

// blog is a project with two services that run version 1, and of which version 2 is known.
func (e *env) blog() {
	e.Helper()
	e.project("blog", 1, map[string]string{"web": webRepo + ":1"})
	e.publish(webRepo+":1", 2)
	e.discovered()
	if job, _ := e.checked(); job.Status != "success" {
		e.Fatalf("the check is %+v", job)
	}
}

// runs is the image that a service's containers have.
func (e *env) runs(project, service string) string {
	e.Helper()
	list := e.engine.ContainersOf(project, service)
	if len(list) != 1 {
		e.Fatalf("%s / %s has %d containers", project, service, len(list))
	}
	return list[0].ImageID
}

func (e *env) logs(id string) string {
	e.Helper()
	d, err := e.svc.JobDetail(context.Background(), id)
	e.must(err)
	var b strings.Builder
	for _, l := range d.Logs {
		fmt.Fprintf(&b, "%s %s\n", l.Level, l.Msg)
	}
	return b.String()
}

func (e *env) locksHeld() (n int64) {
	e.Helper()
	e.must(e.store.DB(context.Background()).Raw("SELECT count(*) FROM job_locks").Scan(&n).Error)
	return n
}

package pages

import (
	"context"

	"github.com/gin-gonic/gin"

	"github.com/patchbay-dev/patchbay/core/console/ui"
	service "github.com/patchbay-dev/patchbay/core/services/containers"
	"github.com/patchbay-dev/patchbay/core/services/containers/work"
)

// queuePages tell the list of all jobs of ours, and lead to it.
type queuePages struct{ pages }

// jobsPath is the list of all jobs.
const jobsPath = "/system/jobs"

// redirectQueue leads from the former list of the service's jobs to that of all jobs, with the same filter.
func (p queuePages) redirectQueue(c *gin.Context) {
	kind, tag := c.Query("type"), ""
	if kind != "" {
		kind = work.QueueType(kind)
	}
	switch {
	case c.Query("serviceId") != "":
		tag = work.ServiceTag(c.Query("serviceId"))
	case c.Query("stackId") != "":
		tag = work.StackTag(c.Query("stackId"))
	}
	p.kit.Redirect(c, ui.Address(jobsPath, "state", c.Query("status"), "type", kind, "tag", tag))
}

// jobTargets returns what the service's jobs work on, and where their own pages are.
func (p queuePages) jobTargets(ctx context.Context, v *ui.View, jobs []ui.Job) (map[string]ui.JobTarget, error) {
	out := map[string]ui.JobTarget{}
	var names map[string]string
	for _, j := range jobs {
		job, ok := service.JobOf(j.ID, j.Type, j.Payload)
		if !ok {
			continue
		}
		if names == nil {
			var err error
			if names, _, err = p.readNames(ctx); err != nil {
				return nil, err
			}
		}
		t := ui.JobTarget{Text: jobSubject(v, job, names), Page: p.base + "/queue/" + j.ID}
		switch {
		case job.ServiceID != "" && job.StackID != "" && names[job.ServiceID] != "":
			t.Href = p.serviceURL(job.StackID, job.ServiceID)
		case job.StackID != "" && names[job.StackID] != "":
			t.Href = p.base + "/stacks/" + job.StackID
		}
		out[j.ID] = t
	}
	return out, nil
}

// jobSubject is what a job works on, in words.
func jobSubject(v *ui.View, j service.Job, names map[string]string) string {
	id := j.ServiceID
	if id == "" {
		id = j.StackID
	}
	switch {
	case id == "":
		return v.T("containers.scope.all")
	case names[id] != "":
		return names[id]
	}
	return id
}

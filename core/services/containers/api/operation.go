package api

import (
	"net/http"

	"github.com/patchbay-dev/patchbay/core/httpd"
	"github.com/patchbay-dev/patchbay/core/httpd/api"
)

// JobID names the job that was made.
type JobID struct {
	JobID string `json:"jobId" example:"job_01K9ZS5T9W1V6Q0P9A8E7C6B5D"`
}

func answerJob(id string, err error) (*api.Out[JobID], error) {
	return api.AnswerWith(JobID{id}, err)
}

// StackPath names a stack.
type StackPath struct {
	ID string `path:"stack_id" maxLength:"64" example:"stk_01K9ZS5T9W1V6Q0P9A8E7C6B5D"`
}

// ServicePath names a service.
type ServicePath struct {
	ID string `path:"service_id" maxLength:"64" example:"svc_01K9ZS5T9W1V6Q0P9A8E7C6B5D"`
}

// ProjectPath names a project.
type ProjectPath struct {
	Project string `path:"project" maxLength:"200" example:"blog"`
}

type archivedQuery struct {
	Archived string `query:"archived" enum:"exclude,include,only" default:"exclude" doc:"Which of the archived to show."`
}

// The groups of operations in the document.
const (
	tagCore      = "Core"
	tagStacks    = "Stacks and services"
	tagDiscovery = "Discovery"
	tagWork      = "Checks and updates"
	tagJobs      = "Jobs"
	tagVersions  = "Version inference"
	tagSettings  = "Settings"
	tagResources = "Resources"
	tagHost      = "Code host packages"
	tagWebhooks  = "Webhooks"
	tagDeploy    = "Deploy check"
	tagNotify    = "Notifications"
)

// newOperation returns the declaration of an endpoint.
func newOperation(id, method, path, tag, summary string, errors ...int) api.Operation {
	return api.Operation{ID: id, Method: method, Path: path, Policy: httpd.Forward, Tag: tag, Summary: summary, Errors: errors}
}

func withText(o api.Operation, text string) api.Operation { o.Description = text; return o }

// withAccepted adds 202, with the same type of body: what is asked for is being made.
func withAccepted(o api.Operation) api.Operation {
	o.Also = map[int]any{http.StatusAccepted: nil}
	return o
}

func withPolicy(o api.Operation, p httpd.Policy) api.Operation { o.Policy = p; return o }

const (
	notFound = http.StatusNotFound
	conflict = http.StatusConflict
)

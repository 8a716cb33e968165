package api

import (
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/patchbay-dev/patchbay/core/httpd"
	"github.com/patchbay-dev/patchbay/core/httpd/api"
	"github.com/patchbay-dev/patchbay/core/services/containers/webhook"
)

// hooksAPI declares the endpoints of the code host's package webhooks, and the webhooks themselves.
func (h *handlers) hooksAPI(a *api.API) {
	const base = "/api/host-packages"
	get, post := http.MethodGet, http.MethodPost
	add := func(id, method, path, summary string, errors ...int) api.Operation {
		return newOperation("host-packages-"+id, method, base+path, tagHost, summary, errors...)
	}
	api.Register(a, add("settings", get, "/settings", "Settings of package webhooks"), h.getHookSettings)
	api.Register(a, withText(add("settings-change", http.MethodPut, "/settings", "Change the settings"),
		"The first change makes the secret that deliveries are signed with. An access token that is empty or masked keeps the stored one; it cannot be cleared."), h.putHookSettings)
	api.Register(a, add("repos", get, "/repos", "List tracked repositories"), h.listRepos)
	api.Register(a, withText(add("repo-select", post, "/repos/selected", "Select a repository, or not"),
		"Only selected repositories get webhooks. While the integration is on, a job makes or deletes the webhook."), h.postRepoSelected)
	api.Register(a, withText(add("repo-delete", post, "/repos/delete", "End the tracking of a repository"),
		"A job deletes its webhook; the repository is shown as removing until then."), h.postRepoDelete)
	api.Register(a, add("repos-select", post, "/repos/bulk-selected", "Select many repositories, or not"), h.postBulkSelected)
	api.Register(a, withText(add("target-add", post, "/targets/add", "Track the repositories behind an input"),
		"They are not selected by that."), h.postTarget)
	api.Register(a, withText(add("target-remove", post, "/targets/remove", "End the tracking by an input"),
		"Its repositories that are selected or have a webhook stay tracked."), h.postTargetRemove)
	api.Register(a, withText(add("resolve", post, "/resolve", "Tell what an input stands for", http.StatusUnprocessableEntity),
		"Changes nothing. 422 means that the access token is missing or lacks permission."), h.postResolve)
	api.Register(a, add("overview", get, "/webhook/overview", "Webhooks by their states"), h.getHookOverview)
	api.Register(a, add("deliveries", get, "/webhook/deliveries", "The inbox of deliveries, the newest first"), h.listDeliveries)
	h.declareStream(a, "host-packages-delivery-events", base+"/webhook/deliveries/events", tagHost, "What happens in the inbox",
		"Events host_packages_delivery_event; host_packages_delivery_events_error is the last one of a stream that cannot go on. Without a cursor the stream begins with what comes.", h.handleDeliveryEvents)
	api.Register(a, withText(add("sync-all", post, "/webhook/sync-all", "Bring all webhooks in line, as a job"),
		"A job that is under way is reused."), h.postSyncAll)
	api.Register(a, withText(add("sync-repo", post, "/webhook/sync-repo", "Bring one webhook in line, as a job", notFound, conflict),
		"A job for the repository that is under way is reused. While its webhook is being deleted, this is a conflict with existingJobId."),
		h.postSyncRepo)
	api.Register(a, withText(add("sync", post, "/sync", "Bring webhooks in line, and wait for it"),
		"Webhooks with the callback URL are ours. More than one in a repository is a conflict, of which nothing is deleted unless resolveConflicts says so."), h.postSync)
	h.documentWebhooks(a)
}

// documentWebhooks declares what senders outside call. Their handlers check who it is.
func (h *handlers) documentWebhooks(a *api.API) {
	a.Document(httpd.Route{Method: http.MethodPost, Path: "/api/webhooks/trigger", Policy: httpd.Secret, Handler: h.handleTrigger},
		huma.Operation{
			OperationID: "webhook-trigger", Tags: []string{tagWebhooks}, Summary: "Start a check or an update",
			Description: "An update needs targets. A check that is under way is reused; an update that another job is in the way of is a conflict with existingJobId.",
			Security:    []map[string][]string{{"webhookSecret": {}}},
			RequestBody: &huma.RequestBody{Required: true, Content: api.JSON(api.Schema[TriggerBody](a))},
			Responses: map[string]*huma.Response{
				"200": {Description: "The job.", Content: api.JSON(api.Schema[JobID](a))},
				"400": a.ErrorResponse("The body does not name a valid check or update."),
				"401": a.ErrorResponse("The secret is wrong, or none is configured: invalid_signature."),
				"409": a.ErrorResponse("Another job works on a service, or the last check found something else."),
			},
		})
	header := func(name, text string) *huma.Param {
		return &huma.Param{Name: name, In: "header", Required: true, Description: text, Schema: &huma.Schema{Type: huma.TypeString}}
	}
	a.Document(httpd.Route{Method: http.MethodPost, Path: "/api/webhooks/host-packages", Policy: httpd.Signature,
		BodyLimit: webhook.BodyLimit, Handler: h.handlePackageWebhook}, huma.Operation{
		OperationID: "webhook-host-packages", Tags: []string{tagWebhooks}, Summary: "Receive a package event of the code host",
		Description: "The signature over the raw body is checked before anything else is looked at. A delivery that was acted on is not acted on again.",
		Parameters: []*huma.Param{
			header(webhook.HeaderSignature, "sha256= and the HMAC-SHA256 of the raw body in hexadecimal digits."),
			header(webhook.HeaderEvent, "The event; "+webhook.AliasEvent+" is taken as well."),
			header(webhook.HeaderDelivery, "The id of the delivery; "+webhook.AliasDelivery+" is taken as well."),
		},
		RequestBody: &huma.RequestBody{Required: true, Content: api.JSON(&huma.Schema{Type: huma.TypeObject})},
		Responses: map[string]*huma.Response{
			"200": {Description: "Nothing is done about it.", Content: api.JSON(api.Schema[webhook.IgnoredWebhook](a))},
			"202": {Description: "Work was started, or is under way.", Content: api.JSON(api.Schema[webhook.AcceptedWebhook](a))},
			"400": a.ErrorResponse("A header is missing, or the body is no JSON."),
			"401": a.ErrorResponse("The signature is wrong, or no secret is set: invalid_signature."),
			"413": a.ErrorResponse("The body is too large."),
		},
	})
}

package pages

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/a-h/templ"
	"github.com/gin-gonic/gin"

	"github.com/patchbay-dev/patchbay/core/console/ui"
	"github.com/patchbay-dev/patchbay/core/event"
	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/httpd"
	"github.com/patchbay-dev/patchbay/core/services/containers/project"
)

// pages are the handlers. They keep nothing between requests.
type pages struct {
	service Service
	inbox   Inbox
	notices Notices
	usage   Usage
	hooks   Hooks
	bus     *event.Bus
	kit     *ui.Kit
	// base is the path of the service, without a slash at its end.
	base string
}

const (
	// lookEvery is how often a live part is made anew when nothing wakes it.
	lookEvery = 5 * time.Second
	// formLimit is the largest body of a form, in bytes: two thousand targets fit in.
	formLimit = 1 << 20
)

var getRoute, postRoute = ui.GetRoute(httpd.Forward), ui.PostRoute(httpd.Forward, formLimit)

// pageURL is the address of a page.
func (p pages) pageURL(parts ...string) templ.SafeURL {
	return templ.SafeURL(p.base + strings.Join(parts, ""))
}

func (p pages) serviceURL(stackID, serviceID string) string {
	return p.base + "/services/" + stackID + "/" + serviceID
}

// newView begins a page.
func (p pages) newView(c *gin.Context, title string) *ui.View {
	v := p.kit.View(c, title)
	v.Styles = append(v.Styles, "containers.css")
	return v
}

// serveLive keeps a part of a page current: it is made anew at each event of the queue, and every so often.
func (p pages) serveLive(c *gin.Context, part ui.Part) {
	sub := p.bus.Subscribe("job/")
	defer sub.Close()
	p.kit.Stream(c, lookEvery, ui.Wake(c.Request.Context(), sub.Events(), nil), part)
}

// answerJob answers an action that makes a job: the browser goes on to the job, also where another one is in the way.
func (p pages) answerJob(c *gin.Context, id string, err error) {
	var f *fault.Error
	if errors.As(err, &f) {
		if other, ok := f.Ext["existingJobId"].(string); ok && other != "" {
			p.kit.Done(c, p.base+"/queue/"+other, ui.Toast{Kind: "info", TextID: "containers.busy"})
			return
		}
	}
	if err != nil {
		p.kit.Fail(c, err)
		return
	}
	p.kit.Redirect(c, p.base+"/queue/"+id)
}

// finishAction answers an action that is over at once.
func (p pages) finishAction(c *gin.Context, to, toast string, err error, args ...string) {
	if err != nil {
		p.kit.Fail(c, err)
		return
	}
	p.kit.Done(c, p.base+to, ui.Toast{Kind: "ok", TextID: toast, Args: args})
}

// returnPath is the page of ours that a form asks to go on to, without the base.
func returnPath(c *gin.Context, other string) string {
	to := c.PostForm("back")
	if !strings.HasPrefix(to, "/") || ui.LocalPath(to) != to {
		return other
	}
	return to
}

// knownService reports whether the service of a page's address belongs to its stack.
func (p pages) knownService(c *gin.Context) (project.ServiceDetail, project.StackItem, error) {
	d, st, err := p.service.Service(c.Request.Context(), c.Param("serviceId"))
	if err == nil && d.StackID != c.Param("stackId") {
		err = fault.New(fault.NotFound, "There is no such service in this stack.")
	}
	return d, st, err
}

// lifecycleCommand is what a start, stop or restart runs, in words.
func (p pages) lifecycleCommand(project, action, svc string) string {
	return strings.TrimSpace(p.service.ComposeCommand() + " -p " + project + " " + action + " " + svc)
}

// jobsShown is how many rows a page lists.
const jobsShown = 50

// readNames returns the names of stacks and services by their ids, a service's with its stack's in front, and the stacks of the services.
func (p pages) readNames(ctx context.Context) (names, stacks map[string]string, err error) {
	list, err := p.service.Overview(ctx, project.ArchivedInclude)
	names, stacks = map[string]string{}, map[string]string{}
	for _, st := range list {
		names[st.ID] = st.Name
		for _, s := range st.Services {
			names[s.ID], stacks[s.ID] = st.Name+" / "+s.Name, st.ID
		}
	}
	return names, stacks, err
}

// handleJob is a handler that makes a job for a service.
func (p pages) handleJob(do func(c *gin.Context, id string) (string, error)) gin.HandlerFunc {
	return func(c *gin.Context) {
		d, _, err := p.knownService(c)
		if err != nil {
			p.kit.Fail(c, err)
			return
		}
		job, err := do(c, d.ID)
		p.answerJob(c, job, err)
	}
}

// handleChange is a handler that changes a service at once and goes back to its page.
func (p pages) handleChange(toast string, do func(c *gin.Context, id string) error) gin.HandlerFunc {
	return func(c *gin.Context) {
		d, _, err := p.knownService(c)
		if err == nil {
			err = do(c, d.ID)
		}
		p.finishAction(c, returnPath(c, "/services/"+d.StackID+"/"+d.ID), toast, err)
	}
}

const servicePath = "/services/:stackId/:serviceId"

// The forms of pages that have several.
const (
	ignoreForm  = "ignore"
	serviceForm = "service"
	hookForm    = "hooks"
	targetForm  = "target"
)

// newIgnore and newTarget are the ids of the dialogs that add an ignore rule and a target.
const (
	newIgnore = "new-ignore"
	newTarget = "new-target"
)

// pageForm is the form of a page that was refused. The zero value is none.
type pageForm struct {
	name string
	form ui.Form
}

// formNamed returns a form of the page: as it was refused, or else as it is at first.
func (f pageForm) formNamed(name string) ui.Form {
	if f.name == name {
		return f.form
	}
	return ui.Form{}
}

// boundAttributes returns the bounds of a number.
func boundAttributes(least, most int) templ.Attributes {
	return templ.Attributes{"min": strconv.Itoa(least), "max": strconv.Itoa(most)}
}

package pages

import (
	"context"
	"net/http"
	"time"

	"github.com/a-h/templ"
	"github.com/gin-gonic/gin"

	"github.com/patchbay-dev/patchbay/core/console/ui"
	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/httpd"
	"github.com/patchbay-dev/patchbay/core/services/containers/project"
)

const (
	// outputLines is how many of the last lines a page begins with, keptLines how many it keeps.
	outputLines = 500
	keptLines   = 5000
	// batchPause is how long lines are gathered before they are sent, and batchLines at how many they are sent at once.
	batchPause = 200 * time.Millisecond
	batchLines = 200
	// outputTime bounds the reading of the lines that a page begins with.
	outputTime = 10 * time.Second
)

// outputPages show what containers write.
type outputPages struct{ pages }

func (p outputPages) outputRoutes() []httpd.Route {
	return []httpd.Route{getRoute(servicePath+"/logs", p.showOutput), getRoute(servicePath+"/logs/live", p.outputLive)}
}

// outputView is what the page with the log of a service shows.
type outputView struct {
	project.ServiceDetail
	Stack      project.StackItem
	Containers []project.ServiceContainer
	// Container is the name of the one whose log is shown; "" if there is none.
	Container string
	Lines     []project.OutputLine
	// Failure says why the log cannot be read.
	Failure string
}

// outputView reads the containers of the service that the address names.
func (p outputPages) outputView(c *gin.Context) (out outputView, err error) {
	if out.ServiceDetail, out.Stack, err = p.knownService(c); err != nil {
		return out, err
	}
	if out.Containers, err = p.service.ServiceContainers(c.Request.Context(), out.ID); err != nil {
		return out, err
	}
	if out.Container = c.Query("container"); out.Container == "" && len(out.Containers) > 0 {
		out.Container = out.Containers[0].Name
	}
	return out, nil
}

func (p outputPages) showOutput(c *gin.Context) {
	o, err := p.outputView(c)
	if err != nil {
		p.kit.Fail(c, err)
		return
	}
	v := p.newView(c, "")
	v.Title, v.Path = v.T("containers.output.title", "Name", o.Name), p.base+"/stacks"
	if o.Container != "" {
		ctx, cancel := context.WithTimeout(c.Request.Context(), outputTime)
		defer cancel()
		err := p.service.ReadOutput(ctx, o.ID, o.Container, outputLines, false, func(l project.OutputLine) error {
			o.Lines = append(o.Lines, l)
			return nil
		})
		if err != nil {
			o.Failure = v.Fault(fault.As(err))
		}
	}
	p.kit.Render(c, v, http.StatusOK, outputPage(v, p.pages, o))
}

// outputLive follows the log of a container.
func (p outputPages) outputLive(c *gin.Context) {
	o, err := p.outputView(c)
	if err != nil {
		p.kit.Fail(c, err)
		return
	}
	ctx, cancel := context.WithCancel(c.Request.Context())
	defer cancel()
	lines := make(chan project.OutputLine)
	go func() {
		defer close(lines)
		// The stream ends with the container; the browser takes it up again.
		_ = p.service.ReadOutput(ctx, o.ID, o.Container, outputLines, true, func(l project.OutputLine) error {
			select {
			case lines <- l:
				return nil
			case <-ctx.Done():
				return ctx.Err()
			}
		})
	}()
	p.kit.Tail(c, gatherLines(ctx, p.kit.View(c, ""), lines))
}

// gatherLines turns lines into parts of the page, several at a time. It ends with ctx or the lines.
func gatherLines(ctx context.Context, v *ui.View, lines <-chan project.OutputLine) <-chan templ.Component {
	out := make(chan templ.Component)
	go func() {
		defer close(out)
		for open := true; open; {
			var batch []project.OutputLine
			batch, open = nextLines(ctx, lines)
			if len(batch) == 0 {
				continue
			}
			select {
			case out <- logLines(v, batch):
			case <-ctx.Done():
				return
			}
		}
	}()
	return out
}

// nextLines waits for a line and returns it with those that follow at once. It reports whether there may be more.
func nextLines(ctx context.Context, lines <-chan project.OutputLine) (batch []project.OutputLine, open bool) {
	var pause <-chan time.Time
	for len(batch) < batchLines {
		select {
		case <-ctx.Done():
			return nil, false
		case <-pause:
			return batch, true
		case l, ok := <-lines:
			if !ok {
				return batch, false
			}
			if batch = append(batch, l); pause == nil {
				pause = time.After(batchPause)
			}
		}
	}
	return batch, true
}

package console

import (
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/a-h/templ"
	"github.com/gin-gonic/gin"

	"github.com/patchbay-dev/patchbay/core/console/ui"
	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/httpd"
	"github.com/patchbay-dev/patchbay/core/texts"
)

const (
	pluginsPath   = "/system/plugins"
	instancePath  = pluginsPath + "/instance/"
	availablePath = pluginsPath + "/available"
	// logEvery is how often the live log looks for new lines.
	logEvery = time.Second
)

func (c *Console) pluginRoutes() []httpd.Route {
	return []httpd.Route{
		{Method: http.MethodGet, Path: pluginsPath, Policy: httpd.Admin, Handler: c.showPlugins},
		{Method: http.MethodGet, Path: pluginsPath + "/live", Policy: httpd.Admin, Handler: c.pluginsLive},
		{Method: http.MethodGet, Path: instancePath + ":ref", Policy: httpd.Admin, Handler: c.showInstance},
		{Method: http.MethodGet, Path: instancePath + ":ref/live", Policy: httpd.Admin, Handler: c.instanceLive},
		{Method: http.MethodPost, Path: instancePath + ":ref/check", Policy: httpd.Admin, Audit: httpd.Unaudited, BodyLimit: formLimit,
			Handler: c.checkInstance},
		{Method: http.MethodPost, Path: instancePath + ":ref/test", Policy: httpd.Admin, Audit: "core.plugins.test", BodyLimit: formLimit,
			Handler: c.sendTest},
		{Method: http.MethodPost, Path: instancePath + ":ref/restart", Policy: httpd.Admin, Audit: "core.plugins.restart", BodyLimit: formLimit,
			Handler: c.restartInstance},
		{Method: http.MethodGet, Path: availablePath, Policy: httpd.Admin, Handler: c.showAvailable},
		{Method: http.MethodGet, Path: availablePath + "/:kind/:name", Policy: httpd.Admin, Handler: c.availableOne},
	}
}

func (c *Console) showPlugins(gc *gin.Context) {
	v := c.kit.View(gc, "plugins.title")
	reason, at := c.cfg.Providers.Rejected()
	c.kit.Render(gc, v, http.StatusOK, pluginsPage(v, c.cfg.Providers.Instances(), c.listReferences(), reason, at))
}

func (c *Console) pluginsLive(gc *gin.Context) {
	c.kit.Stream(gc, lookEvery, nil, func(v *ui.View) (templ.Component, bool, error) {
		return pluginTable(v, c.cfg.Providers.Instances()), false, nil
	})
}

// findInstance is the instance that the address names.
func (c *Console) findInstance(gc *gin.Context) (Instance, []string, error) {
	ref := gc.Param("ref")
	all := c.cfg.Providers.Instances()
	i := slices.IndexFunc(all, func(in Instance) bool { return in.Ref == ref })
	if i < 0 {
		return Instance{}, nil, fault.New(fault.NotFound, "There is no instance with this name in plugin.hcl.")
	}
	// One that was left out has no process and no log.
	lines, err := c.cfg.Providers.Logs(ref)
	if err != nil && fault.CodeOf(err) != fault.NotFound {
		return Instance{}, nil, err
	}
	return all[i], lines, nil
}

func (c *Console) showInstance(gc *gin.Context) {
	in, lines, err := c.findInstance(gc)
	if err != nil {
		c.kit.Fail(gc, err)
		return
	}
	v := c.kit.View(gc, "")
	v.Title = in.Ref
	c.kit.Render(gc, v, http.StatusOK, instancePage(v, in, lines, c.listReferences()))
}

func (c *Console) instanceLive(gc *gin.Context) {
	if _, _, err := c.findInstance(gc); err != nil {
		c.kit.Fail(gc, err)
		return
	}
	c.kit.Stream(gc, logEvery, nil, func(v *ui.View) (templ.Component, bool, error) {
		in, lines, err := c.findInstance(gc)
		return instanceParts(v, in, lines), false, err
	})
}

func (c *Console) checkInstance(gc *gin.Context) {
	ref := gc.Param("ref")
	h, err := c.cfg.Providers.Check(gc.Request.Context(), ref)
	if err != nil {
		c.kit.Fail(gc, err)
		return
	}
	v := c.kit.View(gc, "")
	t := ui.Toast{Kind: "ok", TextID: "plugins.checked.ok",
		Args: []string{"Ref", ref, "State", v.State(h.State), "Message", texts.Truncate(h.Message, maxToast), "Took", v.Millis(h.Took)}}
	if h.State != "ready" {
		t.Kind, t.TextID = "bad", "plugins.checked.bad"
	}
	c.kit.Done(gc, instancePath+ref, t)
}

// sendTest sends a test message through a notification channel.
func (c *Console) sendTest(gc *gin.Context) {
	ref := gc.Param("ref")
	v := c.kit.View(gc, "")
	h, err := c.cfg.Providers.SendTest(gc.Request.Context(), ref, v.T("plugins.test.title"),
		v.T("plugins.test.message", "Ref", ref, "Who", v.Who()))
	if err != nil {
		c.kit.Fail(gc, err)
		return
	}
	t := ui.Toast{Kind: "ok", TextID: "plugins.tested.ok", Args: []string{"Ref", ref, "Took", v.Millis(h.Took)}}
	if h.State != "ready" {
		t = ui.Toast{Kind: "bad", TextID: "plugins.tested.bad", Args: []string{"Ref", ref, "Message", texts.Truncate(h.Message, maxToast)}}
	}
	c.kit.Done(gc, instancePath+ref, t)
}

func (c *Console) restartInstance(gc *gin.Context) {
	ref := gc.Param("ref")
	if err := c.cfg.Providers.Restart(ref); err != nil {
		c.kit.Fail(gc, err)
		return
	}
	c.kit.Done(gc, instancePath+ref, ui.Toast{Kind: "info", TextID: "plugins.restarted", Args: []string{"Ref", ref}})
}

func (c *Console) showAvailable(gc *gin.Context) {
	list, err := c.cfg.Providers.Available(gc.Request.Context())
	if err != nil {
		c.kit.Fail(gc, err)
		return
	}
	v := c.kit.View(gc, "available.title")
	c.kit.Render(gc, v, http.StatusOK, availablePage(v, list))
}

func (c *Console) availableOne(gc *gin.Context) {
	list, err := c.cfg.Providers.Available(gc.Request.Context())
	if err != nil {
		c.kit.Fail(gc, err)
		return
	}
	i := slices.IndexFunc(list, func(p Plugin) bool { return p.Kind == gc.Param("kind") && p.Name == gc.Param("name") })
	if i < 0 {
		c.kit.Fail(gc, fault.New(fault.NotFound, "There is no plugin with this name."))
		return
	}
	v := c.kit.View(gc, "")
	v.Title = list[i].Name
	c.kit.Render(gc, v, http.StatusOK, availableOnePage(v, list[i]))
}

// logText is the log of a process as one text.
func logText(lines []string) string { return strings.Join(lines, "\n") }

// stateDuration is how long an instance is in its state.
func stateDuration(v *ui.View, in Instance) string {
	if in.Since.IsZero() {
		return "–"
	}
	return v.Span(v.Now.Sub(in.Since))
}

func memoryText(v *ui.View, in Instance) string {
	if in.Memory == 0 {
		return "–"
	}
	return v.Bytes(in.Memory)
}

// lastLatency is the newest mean latency in words.
func lastLatency(v *ui.View, in Instance) string {
	if len(in.Latency) == 0 {
		return "–"
	}
	return v.Millis(time.Duration(in.Latency[len(in.Latency)-1] * float64(time.Millisecond)))
}

func originText(v *ui.View, p Plugin) string {
	if p.Origin == "built-in" {
		return v.T("available.builtin")
	}
	return p.Origin
}

// maxToast is how many characters of a message a toast shows.
const maxToast = 200

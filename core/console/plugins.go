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

// pluginPages are those of the plugin instances.
type pluginPages struct{ *base }

func (h *pluginPages) listRoutes() []httpd.Route {
	return []httpd.Route{
		{Method: http.MethodGet, Path: pluginsPath, Policy: httpd.Admin, Handler: h.showPlugins},
		{Method: http.MethodGet, Path: pluginsPath + "/live", Policy: httpd.Admin, Handler: h.pluginsLive},
		{Method: http.MethodGet, Path: instancePath + ":ref", Policy: httpd.Admin, Handler: h.showInstance},
		{Method: http.MethodGet, Path: instancePath + ":ref/live", Policy: httpd.Admin, Handler: h.instanceLive},
		{Method: http.MethodPost, Path: instancePath + ":ref/check", Policy: httpd.Admin, Audit: httpd.Unaudited, BodyLimit: formLimit,
			Handler: h.checkInstance},
		{Method: http.MethodPost, Path: instancePath + ":ref/test", Policy: httpd.Admin, Audit: "core.plugins.test", BodyLimit: formLimit,
			Handler: h.sendTest},
		{Method: http.MethodPost, Path: instancePath + ":ref/restart", Policy: httpd.Admin, Audit: "core.plugins.restart", BodyLimit: formLimit,
			Handler: h.restartInstance},
		{Method: http.MethodGet, Path: availablePath, Policy: httpd.Admin, Handler: h.showAvailable},
		{Method: http.MethodGet, Path: availablePath + "/:kind/:name", Policy: httpd.Admin, Handler: h.availableOne},
	}
}

func (h *pluginPages) showPlugins(gc *gin.Context) {
	v := h.kit.View(gc, "plugins.title")
	reason, at := h.cfg.Providers.Rejected()
	h.kit.Render(gc, v, http.StatusOK, pluginsPage(v, h.cfg.Providers.Instances(), h.listReferences(), reason, at))
}

func (h *pluginPages) pluginsLive(gc *gin.Context) {
	h.kit.Stream(gc, lookEvery, nil, func(v *ui.View) (templ.Component, bool, error) {
		return pluginTable(v, h.cfg.Providers.Instances()), false, nil
	})
}

// findInstance is the instance that the address names.
func (h *pluginPages) findInstance(gc *gin.Context) (Instance, []string, error) {
	ref := gc.Param("ref")
	all := h.cfg.Providers.Instances()
	i := slices.IndexFunc(all, func(in Instance) bool { return in.Ref == ref })
	if i < 0 {
		return Instance{}, nil, fault.New(fault.NotFound, "There is no instance with this name in plugin.hcl.")
	}
	// One that was left out has no process and no log.
	lines, err := h.cfg.Providers.Logs(ref)
	if err != nil && fault.CodeOf(err) != fault.NotFound {
		return Instance{}, nil, err
	}
	return all[i], lines, nil
}

func (h *pluginPages) showInstance(gc *gin.Context) {
	in, lines, err := h.findInstance(gc)
	if err != nil {
		h.kit.Fail(gc, err)
		return
	}
	v := h.kit.View(gc, "")
	v.Title = in.Ref
	h.kit.Render(gc, v, http.StatusOK, instancePage(v, in, lines, h.listReferences()))
}

func (h *pluginPages) instanceLive(gc *gin.Context) {
	if _, _, err := h.findInstance(gc); err != nil {
		h.kit.Fail(gc, err)
		return
	}
	h.kit.Stream(gc, logEvery, nil, func(v *ui.View) (templ.Component, bool, error) {
		in, lines, err := h.findInstance(gc)
		return instanceParts(v, in, lines), false, err
	})
}

func (h *pluginPages) checkInstance(gc *gin.Context) {
	ref := gc.Param("ref")
	health, err := h.cfg.Providers.Check(gc.Request.Context(), ref)
	if err != nil {
		h.kit.Fail(gc, err)
		return
	}
	v := h.kit.View(gc, "")
	t := ui.Toast{Kind: "ok", TextID: "plugins.checked.ok",
		Args: []string{"Ref", ref, "State", v.State(health.State), "Message", texts.Truncate(health.Message, maxToast), "Took",
			v.Millis(health.Took)}}
	if health.State != "ready" {
		t.Kind, t.TextID = "bad", "plugins.checked.bad"
	}
	h.kit.Done(gc, instancePath+ref, t)
}

// sendTest sends a test message through a notification channel.
func (h *pluginPages) sendTest(gc *gin.Context) {
	ref := gc.Param("ref")
	v := h.kit.View(gc, "")
	health, err := h.cfg.Providers.SendTest(gc.Request.Context(), ref, v.T("plugins.test.title"),
		v.T("plugins.test.message", "Ref", ref, "Who", v.Who()))
	if err != nil {
		h.kit.Fail(gc, err)
		return
	}
	t := ui.Toast{Kind: "ok", TextID: "plugins.tested.ok", Args: []string{"Ref", ref, "Took", v.Millis(health.Took)}}
	if health.State != "ready" {
		t = ui.Toast{Kind: "bad", TextID: "plugins.tested.bad", Args: []string{"Ref", ref, "Message", texts.Truncate(health.Message, maxToast)}}
	}
	h.kit.Done(gc, instancePath+ref, t)
}

func (h *pluginPages) restartInstance(gc *gin.Context) {
	ref := gc.Param("ref")
	if err := h.cfg.Providers.Restart(ref); err != nil {
		h.kit.Fail(gc, err)
		return
	}
	h.kit.Done(gc, instancePath+ref, ui.Toast{Kind: "info", TextID: "plugins.restarted", Args: []string{"Ref", ref}})
}

func (h *pluginPages) showAvailable(gc *gin.Context) {
	list, err := h.cfg.Providers.Available(gc.Request.Context())
	if err != nil {
		h.kit.Fail(gc, err)
		return
	}
	v := h.kit.View(gc, "available.title")
	h.kit.Render(gc, v, http.StatusOK, availablePage(v, list))
}

func (h *pluginPages) availableOne(gc *gin.Context) {
	list, err := h.cfg.Providers.Available(gc.Request.Context())
	if err != nil {
		h.kit.Fail(gc, err)
		return
	}
	i := slices.IndexFunc(list, func(p Plugin) bool { return p.Kind == gc.Param("kind") && p.Name == gc.Param("name") })
	if i < 0 {
		h.kit.Fail(gc, fault.New(fault.NotFound, "There is no plugin with this name."))
		return
	}
	v := h.kit.View(gc, "")
	v.Title = list[i].Name
	h.kit.Render(gc, v, http.StatusOK, availableOnePage(v, list[i]))
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

package app

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/patchbay-dev/patchbay/config"
	"github.com/patchbay-dev/patchbay/core/console"
	"github.com/patchbay-dev/patchbay/core/console/ui"
	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/httpd"
	"github.com/patchbay-dev/patchbay/core/module"
	"github.com/patchbay-dev/patchbay/core/plugin/catalog"
	"github.com/patchbay-dev/patchbay/core/settings"
)

// newConsole makes the pages for the settings that are in use.
func (a *App) newConsole(set *settings.Settings) (*console.Console, error) {
	sections, err := a.serviceSections(set)
	if err != nil {
		return nil, err
	}
	providers := newProviders(a, set.File)
	return console.New(console.Config{
		Users: a.users, Access: set.Access(a.clients), Queue: a.queue, Bus: a.bus, Version: a.cfg.Version,
		Providers: providers, Configurator: providers, Nodes: consoleNodes(a), Services: panelServices(set), Sections: sections, Secrets: &a.secrets,
		Warnings: func() []string { return a.warningIDs(set) }, Current: func() bool { return a.inUse.Load() == set },
	})
}

// warningIDs returns the texts that every page shows: about settings that are not for production, and about a reload that was
// rejected.
func (a *App) warningIDs(set *settings.Settings) (ids []string) {
	if set.OpenToAll() {
		ids = append(ids, "warning.anonymous")
	}
	for _, s := range set.Services {
		if warner, ok := s.Block.(module.Warner); ok {
			ids = append(ids, warner.Warnings()...)
		}
	}
	if a.outcome.rejected() != nil {
		ids = append(ids, "warning.reload")
	}
	if set.Backup != nil && a.backups.failure() != nil {
		ids = append(ids, "warning.backup")
	}
	return ids
}

// serviceSections returns the pages of the services.
func (a *App) serviceSections(set *settings.Settings) ([]ui.Section, error) {
	var sections []ui.Section
	for _, s := range a.services {
		at, err := serviceAddress(set, s.name)
		if err != nil {
			return nil, err
		}
		section, err := s.Pages(at)
		if err != nil {
			return nil, fmt.Errorf("make the pages of the %s service: %w", s.name, err)
		}
		sections = append(sections, section)
	}
	return sections, nil
}

// serviceAddress returns where the settings mount a service.
func serviceAddress(set *settings.Settings, name string) (module.Address, error) {
	at := module.Address{URL: set.Service(name).BaseURL}
	base, err := url.Parse(at.URL)
	if err != nil {
		return at, err
	}
	at.Path = base.Path
	if base.Host == "" && set.Core.PublicURL != "" {
		at.URL = strings.TrimSuffix(set.Core.PublicURL, "/") + base.Path
	}
	return at, nil
}

// panelServices returns the services with the instances that they refer to.
func panelServices(set *settings.Settings) []console.Service {
	out := make([]console.Service, len(set.Services))
	for i, s := range set.Services {
		out[i] = console.Service{Name: s.Name, BaseURL: s.BaseURL}
		for _, ref := range s.References {
			kind, _, _ := strings.Cut(ref, ".")
			out[i].Uses = append(out[i].Uses, console.Use{Kind: kind, Ref: ref})
		}
	}
	return out
}

// withPages adds the pages of a service to its mount, and pages for its errors.
func withPages(m httpd.Mount, c *console.Console) httpd.Mount {
	m.Routes = append(m.Routes, c.SectionRoutes(m.Service)...)
	m.Errors = c.Errors(m.Errors)
	return m
}

// serveRoot answers programs with what this is, and leads browsers to the home page.
func (a *App) serveRoot(services map[string]string) gin.HandlerFunc {
	return func(c *gin.Context) {
		c.Header("Vary", "Accept")
		if ui.WantsPage(c.Request) {
			c.Redirect(http.StatusSeeOther, ui.Home)
			return
		}
		c.JSON(http.StatusOK, gin.H{"name": "patchbay", "version": a.cfg.Version, "services": services})
	}
}

// providers shows the plugins to the console, as they stand in one version of plugin.hcl.
type providers struct {
	app  *App
	file *config.File
	// shown are the instances' blocks in effect, by their first line; the file does not change once it is in use.
	shown func() map[string]string
}

// newProviders returns what the console sees of the plugins in file.
func newProviders(a *App, file *config.File) *providers {
	return &providers{app: a, file: file, shown: sync.OnceValue(func() map[string]string { return listBlocks(file) })}
}

// stateOff is the state of an instance that is left out.
const stateOff = "off"

// Instances implements console.Providers.
func (p *providers) Instances() []console.Instance {
	shown := p.shown()
	out := make([]console.Instance, 0, len(p.file.Instances))
	for _, in := range p.file.Instances {
		i := console.Instance{
			Ref: in.Ref(), Kind: in.Kind, Plugin: in.Plugin, Name: in.Name, State: stateOff, Place: in.Range.Short(),
			Config: shown[fmt.Sprintf("%s %q %q {", in.Kind, in.Plugin, in.Name)],
		}
		i.Calls, i.Failures, i.Latency = p.app.metrics.history.countCalls(i.Ref)
		if current := p.currentInstance(i.Ref); current != nil {
			st, how := current.Process().Status(), current.Condition()
			i.Version, i.State, i.Message, i.Since, i.Checked = st.Version, string(how.State), how.Message, how.Since, how.Checked
			i.PID, i.Restarts, i.Memory, i.Events = st.PID, st.Restarts, residentMemory(st.PID), newEvents(current.Process().Events())
		} else if left, ok := p.app.absent.find(i.Ref); ok {
			i.Message, i.Since = left.reason, left.since
		}
		out = append(out, i)
	}
	return out
}

// listBlocks returns the blocks of a file in effect, by their first line.
func listBlocks(file *config.File) map[string]string {
	var b bytes.Buffer
	out := map[string]string{}
	if err := file.Show(&b); err != nil {
		return out
	}
	var head string
	var body strings.Builder
	for line := range strings.Lines(b.String()) {
		if body.Len() == 0 {
			head = strings.TrimSuffix(line, "\n")
		}
		if strings.TrimSpace(line) != "" {
			body.WriteString(line)
		}
		if line == "}\n" {
			out[head] = body.String()
			body.Reset()
		} else if body.Len() == 0 {
			head = ""
		}
	}
	return out
}

// residentMemory returns how much memory a process has, in bytes, or 0 if that is not known.
func residentMemory(pid int) int64 {
	if pid <= 0 {
		return 0
	}
	raw, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/statm")
	if err != nil {
		return 0
	}
	fields := strings.Fields(string(raw))
	if len(fields) < 2 {
		return 0
	}
	pages, err := strconv.ParseInt(fields[1], 10, 64)
	if err != nil {
		return 0
	}
	return pages * int64(os.Getpagesize())
}

// currentInstance returns the instance that serves a reference, or nil.
func (p *providers) currentInstance(ref string) *catalog.Instance {
	h, err := p.app.catalog.Handle(ref)
	if err != nil {
		return nil
	}
	return h.Current()
}

// runningInstance is currentInstance with a fault instead of nil.
func (p *providers) runningInstance(ref string) (*catalog.Instance, error) {
	if in := p.currentInstance(ref); in != nil {
		return in, nil
	}
	return nil, fault.New(fault.NotFound, "There is no running instance %s.", ref)
}

// Logs implements console.Providers.
func (p *providers) Logs(ref string) ([]string, error) {
	in, err := p.runningInstance(ref)
	if err != nil {
		return nil, err
	}
	return in.Process().Logs(), nil
}

// Rejected implements console.Providers.
func (p *providers) Rejected() (reason string, at time.Time) {
	if r := p.app.outcome.rejected(); r != nil {
		return r.reason, r.at
	}
	return "", time.Time{}
}

// Check implements console.Providers.
func (p *providers) Check(ctx context.Context, ref string) (console.Health, error) {
	in, err := p.runningInstance(ref)
	if err != nil {
		return console.Health{}, err
	}
	how := in.CheckHealth(ctx)
	return console.Health{State: string(how.State), Message: how.Message, Took: how.Took}, nil
}

// Restart implements console.Providers.
func (p *providers) Restart(ref string) error {
	if _, ok := p.app.absent.find(ref); ok {
		p.app.absent.retryNow()
		return nil
	}
	in, err := p.runningInstance(ref)
	if err != nil {
		return err
	}
	in.Process().Restart()
	return nil
}

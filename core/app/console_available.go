package app

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/patchbay-dev/patchbay/core/admin"
	"github.com/patchbay-dev/patchbay/core/console"
	"github.com/patchbay-dev/patchbay/core/fault"
	pluginv1 "github.com/patchbay-dev/patchbay/sdk/proto/patchbay/plugin/v1"
)

// listFor is how long the list of available plugins is kept: to make it, each plugin is started for a moment.
const listFor = 10 * time.Minute

// pluginList is what the available plugins say of themselves, kept for a while.
type pluginList struct {
	mu     sync.Mutex
	found  []admin.PluginInfo
	of     string
	listed time.Time
}

// listPlugins returns what the available plugins say of themselves.
func (p *providers) listPlugins(ctx context.Context) ([]admin.PluginInfo, error) {
	l := &p.app.plugins
	l.mu.Lock()
	defer l.mu.Unlock()
	of := p.declaredPlugins()
	if l.found != nil && l.of == of && time.Since(l.listed) < listFor {
		return l.found, nil
	}
	found, err := admin.ListPlugins(ctx, p.app.cfg.configSource())
	if err != nil {
		return nil, fault.Wrap(err, fault.Conflict, "The configuration cannot be read at the moment: run \"patchbay config check\".")
	}
	l.found, l.of, l.listed = found, of, time.Now()
	return found, nil
}

// declaredPlugins returns a text that differs after the plugin blocks have changed.
func (p *providers) declaredPlugins() string {
	var b strings.Builder
	for _, d := range p.file.Plugins {
		fmt.Fprintf(&b, "%s %s %q %v;", d.Name, d.Path, d.Args, d.MTLS)
	}
	return b.String()
}

// Available implements console.Providers.
func (p *providers) Available(ctx context.Context) ([]console.Plugin, error) {
	found, err := p.listPlugins(ctx)
	if err != nil {
		return nil, err
	}
	out := make([]console.Plugin, len(found))
	for i := range found {
		out[i] = describeAvailable(&found[i])
	}
	return out, nil
}

// describeAvailable returns a plugin as the console shows it.
func describeAvailable(info *admin.PluginInfo) console.Plugin {
	out := console.Plugin{Kind: info.Kind, Name: info.Name, Version: info.Version, Summary: info.Summary, Origin: info.Origin}
	if info.About == nil {
		return out
	}
	out.Documentation = strings.TrimSpace(info.About.GetDocumentation())
	for _, k := range info.About.GetKinds() {
		out.Capabilities = append(out.Capabilities, k.GetCapabilities()...)
		out.Settings = append(out.Settings, listSettings(k.GetConfig(), "")...)
	}
	out.Block = info.Blocks()
	return out
}

// listSettings returns the attributes of a config block and of the blocks in it; prefix stands before their names.
func listSettings(s *pluginv1.Schema, prefix string) (out []console.Setting) {
	for _, a := range s.GetAttributes() {
		set := console.Setting{
			Name: prefix + a.GetName(), Type: strings.ToLower(strings.TrimPrefix(a.GetType().String(), "TYPE_")), Doc: a.GetDoc(),
			Enum: a.GetEnum(), Required: a.GetRequired(), Secret: a.GetSensitive(),
		}
		if !set.Secret && !set.Required {
			set.Default = a.GetDefaultJson()
		}
		out = append(out, set)
	}
	for _, b := range s.GetBlocks() {
		inner := listSettings(b.GetSchema(), prefix+b.GetName()+".")
		for i := range inner {
			inner[i].Repeated = inner[i].Repeated || b.GetNesting() != pluginv1.Nesting_NESTING_SINGLE
		}
		out = append(out, inner...)
	}
	return out
}

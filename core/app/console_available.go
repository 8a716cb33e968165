package app

import (
	"context"
	"strings"
	"time"

	"github.com/patchbay-dev/patchbay/core/admin"
	"github.com/patchbay-dev/patchbay/core/console"
	"github.com/patchbay-dev/patchbay/core/fault"
	pluginv1 "github.com/patchbay-dev/patchbay/sdk/proto/patchbay/plugin/v1"
)

// listFor is how long the list of available plugins is kept: to make it, each plugin is started for a moment.
const listFor = 10 * time.Minute

// Available implements console.Providers.
func (p *providers) Available(ctx context.Context) ([]console.Plugin, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.available != nil && time.Since(p.listed) < listFor {
		return p.available, nil
	}
	found, err := admin.ListPlugins(ctx, p.app.cfg.configSource())
	if err != nil {
		return nil, fault.Wrap(err, fault.Conflict, "The configuration cannot be read at the moment: run \"patchbay config check\".")
	}
	out := make([]console.Plugin, len(found))
	for i := range found {
		out[i] = describeAvailable(&found[i])
	}
	p.available, p.listed = out, time.Now()
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
		out.Settings = append(out.Settings, settingsOf(k.GetConfig(), "")...)
	}
	out.Block = info.Blocks()
	return out
}

// settingsOf returns the attributes of a config block and of the blocks in it; prefix stands before their names.
func settingsOf(s *pluginv1.Schema, prefix string) (out []console.Setting) {
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
		out = append(out, settingsOf(b.GetSchema(), prefix+b.GetName()+".")...)
	}
	return out
}

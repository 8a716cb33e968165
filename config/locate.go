package config

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/patchbay-dev/patchbay/sdk/schema"
)

// Locate turns what a plugin has found about the config block of an instance into findings with places: at the
// attribute, the element of a list, the member of a map, or the block. Secrets of the block that the plugin repeats
// are left out. DecodeInstance must have been called for the instance, else everything is at its header.
func (f *File) Locate(i *Instance, ds schema.Diagnostics) Diagnostics {
	def := i.configDef
	decoded := i.decoded.Load()
	if decoded == nil {
		def = i.Range
	}
	return f.locate(decoded, def, i.Plugin, ds)
}

// locate serves plugins and, with an empty plugin name, the host's own blocks.
func (f *File) locate(n *node, def Range, plugin string, ds schema.Diagnostics) Diagnostics {
	var out Diagnostics
	var secrets []string
	if n != nil {
		secrets = n.secrets()
		slices.SortFunc(secrets, func(a, b string) int { return len(b) - len(a) })
	}
	for _, d := range ds {
		at, origin := f.find(n, def, d.Path)
		summary := d.Summary
		if len(d.Path) > 0 {
			summary = d.Path.String() + ": " + summary
		}
		if plugin != "" {
			summary = verdict(d.Severity, plugin) + ": " + summary
		}
		detail := d.Detail
		if origin != "" {
			detail = strings.TrimSpace(detail + " The value comes from: " + origin + ".")
		}
		out = append(out, Diagnostic{
			Severity: d.Severity, Summary: redact(summary, secrets), Detail: redact(detail, secrets), Range: at,
		})
	}
	out.Sort()
	return out
}

func verdict(s Severity, plugin string) string {
	if s == Warning {
		return fmt.Sprintf("Warning from plugin %q", plugin)
	}
	return fmt.Sprintf("Rejected by plugin %q", plugin)
}

func redact(text string, secrets []string) string {
	for _, s := range secrets {
		if s != "" {
			text = strings.ReplaceAll(text, s, schema.Redacted)
		}
	}
	return text
}

// find returns the place of the value at the path, else that of the nearest thing around it. Origin is set if the
// value does not stand in the file.
func (f *File) find(n *node, def Range, path schema.Path) (at Range, origin string) {
	at = def
	for n != nil && len(path) > 0 {
		if n.def.Line > 0 {
			at = n.def
		}
		step, rest := path[0], path[1:]
		if v := n.value(step.Name); v != nil {
			return f.findValue(v, at, rest)
		}
		g := n.group(step.Name)
		if g == nil {
			return at, ""
		}
		n, path = g.enter(rest)
	}
	if n != nil && n.def.Line > 0 {
		at = n.def
	}
	return at, ""
}

func (f *File) findValue(v *value, block Range, rest schema.Path) (Range, string) {
	if v.expr == nil {
		return block, v.origin
	}
	if len(rest) > 0 {
		return f.locateStep(v, rest[0]), ""
	}
	return v.at, ""
}

// enter follows a path into one block of the group; the node is nil if there is no such block.
func (g *group) enter(path schema.Path) (*node, schema.Path) {
	if g.block.Nesting == schema.Single {
		if len(g.items) == 0 {
			return nil, nil
		}
		return g.items[0].node, path
	}
	if len(path) == 0 {
		if len(g.items) > 0 {
			return g.items[0].node, nil
		}
		return nil, nil
	}
	for i, it := range g.items {
		if g.block.Nesting == schema.List && i == path[0].Index || g.block.Nesting == schema.Map && it.label == path[0].Name {
			return it.node, path[1:]
		}
	}
	return nil, nil
}

// locateStep returns the place of an element or a member of the value's expression, else that of the expression.
func (f *File) locateStep(v *value, step schema.Step) Range {
	if v.expr == nil {
		return v.at
	}
	if step.Kind == schema.StepIndex {
		list, found := hcl.ExprList(v.expr)
		if !found.HasErrors() && step.Index >= 0 && step.Index < len(list) {
			return f.src.at(list[step.Index].Range())
		}
		return v.at
	}
	pairs, found := hcl.ExprMap(v.expr)
	if found.HasErrors() {
		return v.at
	}
	for _, p := range pairs {
		key, found := p.Key.Value(nil)
		if !found.HasErrors() && key.Type() == cty.String && key.IsKnown() && !key.IsNull() && key.AsString() == step.Name {
			return f.src.at(p.Value.Range())
		}
	}
	return v.at
}

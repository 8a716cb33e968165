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
	return f.locateFindings(decoded, def, i.Plugin, ds)
}

// locateFindings returns the findings with their places and without the node's secrets. The plugin is named in each
// summary; it is empty for the host's own blocks.
func (f *File) locateFindings(n *node, def Range, plugin string, ds schema.Diagnostics) Diagnostics {
	var out Diagnostics
	var secrets []string
	if n != nil {
		secrets = n.sensitiveStrings()
		slices.SortFunc(secrets, func(a, b string) int { return len(b) - len(a) })
	}
	for _, d := range ds {
		at, origin := f.findRange(n, def, d.Path)
		summary := d.Summary
		if len(d.Path) > 0 {
			summary = d.Path.String() + ": " + summary
		}
		if plugin != "" {
			summary = findingPrefix(d.Severity, plugin) + ": " + summary
		}
		detail := d.Detail
		if origin != "" {
			detail = strings.TrimSpace(detail + " The value comes from: " + origin + ".")
		}
		out = append(out, Diagnostic{
			Severity: d.Severity, Summary: maskSecrets(summary, secrets), Detail: maskSecrets(detail, secrets), Setting: d.Path.String(), Range: at,
		})
	}
	out.Sort()
	return out
}

func findingPrefix(s Severity, plugin string) string {
	if s == Warning {
		return fmt.Sprintf("Warning from plugin %q", plugin)
	}
	return fmt.Sprintf("Rejected by plugin %q", plugin)
}

func maskSecrets(text string, secrets []string) string {
	for _, s := range secrets {
		if s != "" {
			text = strings.ReplaceAll(text, s, schema.Redacted)
		}
	}
	return text
}

// findRange returns the place of the value at the path, else that of the nearest enclosing value or block. The origin is
// set if the value is not in the file.
func (f *File) findRange(n *node, def Range, path schema.Path) (at Range, origin string) {
	at = def
	for n != nil && len(path) > 0 {
		if n.def.Line > 0 {
			at = n.def
		}
		step, rest := path[0], path[1:]
		if v := n.findValue(step.Name); v != nil {
			return f.findValueRange(v, at, rest)
		}
		g := n.findGroup(step.Name)
		if g == nil {
			return at, ""
		}
		n, path = g.stepInto(rest)
	}
	if n != nil && n.def.Line > 0 {
		at = n.def
	}
	return at, ""
}

func (f *File) findValueRange(v *value, block Range, rest schema.Path) (Range, string) {
	if v.expr == nil {
		return block, v.origin
	}
	if len(rest) > 0 {
		return f.stepRange(v, rest[0]), ""
	}
	return v.at, ""
}

// stepInto returns the block of the group that the path names, and the rest of the path. The node is nil if there is none.
func (g *group) stepInto(path schema.Path) (*node, schema.Path) {
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

// stepRange returns the place of an element or member within the value's expression, else that of the whole expression.
func (f *File) stepRange(v *value, step schema.Step) Range {
	if v.expr == nil {
		return v.at
	}
	if step.Kind == schema.StepIndex {
		list, found := hcl.ExprList(v.expr)
		if !found.HasErrors() && step.Index >= 0 && step.Index < len(list) {
			return f.src.rangeAt(list[step.Index].Range())
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
			return f.src.rangeAt(p.Value.Range())
		}
	}
	return v.at
}

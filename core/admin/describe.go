package admin

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/hashicorp/go-hclog"

	"github.com/patchbay-dev/patchbay/core/lists"
	"github.com/patchbay-dev/patchbay/core/plugin/host"
	"github.com/patchbay-dev/patchbay/core/settings"
	pluginv1 "github.com/patchbay-dev/patchbay/sdk/proto/patchbay/plugin/v1"
)

// PluginInfo is a plugin that can be used.
type PluginInfo struct {
	Kind, Name, Version string
	// Origin is "built-in" or the path of the binary.
	Origin string
	// Summary is the plugin's own sentence, or why it was not or could not be started.
	Summary string

	// About is what the plugin says of itself, nil if it was not or could not be started.
	About *pluginv1.DescribeResponse
}

// ListPlugins describes the built-in plugins and those of the configuration. It starts each for a moment, except those that
// the lock file does not pin.
func ListPlugins(ctx context.Context, src settings.Source) ([]PluginInfo, error) {
	set, res, diags, err := src.Load(ctx)
	if err != nil {
		return nil, err
	}
	if diags.HasErrors() {
		return nil, diags.Err()
	}
	h, err := host.New(host.Config{Logger: hclog.NewNullLogger(), SocketDir: set.Core.SocketDir, DataDir: set.DataDir})
	if err != nil {
		return nil, err
	}
	defer h.Close()
	var found []PluginInfo
	var specs []host.Spec
	for kind, names := range res.Names {
		for _, name := range names {
			found = append(found, PluginInfo{Kind: kind, Name: name, Origin: "built-in"})
			specs = append(specs, host.Spec{Name: name, Path: res.Builtin, Args: []string{kind + "/" + name}})
		}
	}
	for _, p := range set.File.Plugins {
		if p.Path == "" {
			continue
		}
		info := PluginInfo{Name: p.Name, Origin: p.Path}
		if !p.InsecureUnpinned && !res.Lock.Pins(p.Name, settings.Platform()) {
			info.Summary = fmt.Sprintf("is not started: it has no digest for %s; run patchbay plugin lock", settings.Platform())
		}
		found = append(found, info)
		specs = append(specs, res.PluginSpec(p))
	}
	var wg sync.WaitGroup
	for i := range found {
		if found[i].Summary == "" {
			wg.Go(func() { found[i].describeBy(ctx, h, specs[i]) })
		}
	}
	wg.Wait()
	slices.SortFunc(found, func(a, b PluginInfo) int {
		return cmp.Or(strings.Compare(a.Kind, b.Kind), strings.Compare(a.Name, b.Name))
	})
	return found, nil
}

// describeBy starts the plugin and takes over what it says of itself.
func (p *PluginInfo) describeBy(ctx context.Context, h *host.Host, spec host.Spec) {
	proc, err := h.Open(ctx, spec)
	if err != nil {
		p.Summary = "does not start: " + host.Reason(err)
		return
	}
	defer proc.Release()
	p.About = proc.Describe()
	p.Version, p.Summary = p.About.GetVersion(), p.About.GetSummary()
	if p.Kind == "" {
		kinds := lists.ConvertAll(p.About.GetKinds(), func(k *pluginv1.Kind) string { return k.GetName() })
		p.Kind = strings.Join(kinds, ",")
	}
}

// FindPlugin returns the plugin that is named NAME or KIND/NAME, with what it says of itself.
func FindPlugin(ctx context.Context, src settings.Source, name string) (*PluginInfo, error) {
	all, err := ListPlugins(ctx, src)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, p := range all {
		if p.Name == name || p.Kind+"/"+p.Name == name {
			if p.About == nil {
				return nil, fmt.Errorf("plugin %q %s", p.Name, p.Summary)
			}
			return &p, nil
		}
		names = append(names, p.Kind+"/"+p.Name)
	}
	return nil, fmt.Errorf("there is no plugin %q. These exist: %s", name, strings.Join(names, ", "))
}

// Text returns what the plugin offers, its settings and an HCL block to start from.
func (p *PluginInfo) Text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s (%s)\n%s\n", p.Name, p.Version, p.Origin, p.Summary)
	if doc := strings.TrimSpace(p.About.GetDocumentation()); doc != "" {
		fmt.Fprintf(&b, "\n%s\n", doc)
	}
	for _, k := range p.About.GetKinds() {
		fmt.Fprintf(&b, "\nkind %s, service %s\ncapabilities: %s\n\nsettings:\n", k.GetName(), k.GetService(),
			strings.Join(k.GetCapabilities(), ", "))
		writeSettings(&b, k.GetConfig(), "  ")
		fmt.Fprintf(&b, "\nfor plugin.hcl:\n\n%s", p.instanceBlock(k))
	}
	return b.String()
}

// Blocks returns an HCL block to start from for each kind that the plugin offers.
func (p *PluginInfo) Blocks() string {
	var b strings.Builder
	for _, k := range p.About.GetKinds() {
		b.WriteString(p.instanceBlock(k))
	}
	return b.String()
}

// instanceBlock returns an HCL block of an instance of one kind.
func (p *PluginInfo) instanceBlock(k *pluginv1.Kind) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %q \"main\" {\n  config {\n", k.GetName(), p.Name)
	writeBlock(&b, k.GetConfig(), "    ")
	b.WriteString("  }\n}\n")
	return b.String()
}

// writeSettings writes the attributes of a config block and of the blocks in it, a line each.
func writeSettings(b *strings.Builder, s *pluginv1.Schema, indent string) {
	for _, a := range s.GetAttributes() {
		var notes []string
		switch {
		case a.GetRequired():
			notes = append(notes, "required")
		case a.GetDefaultJson() != "" && !a.GetSensitive():
			notes = append(notes, "default "+a.GetDefaultJson())
		}
		if a.GetSensitive() {
			notes = append(notes, "secret")
		}
		if len(a.GetEnum()) > 0 {
			notes = append(notes, "one of "+strings.Join(a.GetEnum(), ", "))
		}
		fmt.Fprintf(b, "%s%s (%s)  %s\n", indent, a.GetName(), strings.Join(append([]string{typeName(a.GetType())}, notes...), "; "), a.GetDoc())
	}
	for _, block := range s.GetBlocks() {
		fmt.Fprintf(b, "%s%s { }  %s\n", indent, block.GetName(), block.GetDoc())
		writeSettings(b, block.GetSchema(), indent+"  ")
	}
}

// typeName returns the type of an attribute in words.
func typeName(t pluginv1.Type) string {
	return strings.ToLower(strings.ReplaceAll(strings.TrimPrefix(t.String(), "TYPE_"), "_", " "))
}

// writeBlock writes what must be set, and the rest as comments with its default.
func writeBlock(b *strings.Builder, s *pluginv1.Schema, indent string) {
	for _, a := range s.GetAttributes() {
		mark := "# "
		if a.GetRequired() {
			mark = ""
		}
		fmt.Fprintf(b, "%s%s%s = %s\n", indent, mark, a.GetName(), exampleValue(a))
	}
}

// exampleValue returns a value in HCL to start from.
func exampleValue(a *pluginv1.Attribute) string {
	switch {
	case a.GetSensitive():
		return fmt.Sprintf("env(%q)", strings.ToUpper(a.GetName()))
	case a.GetDefaultJson() != "":
		return a.GetDefaultJson()
	}
	switch a.GetType() {
	case pluginv1.Type_TYPE_NUMBER, pluginv1.Type_TYPE_INTEGER:
		return "0"
	case pluginv1.Type_TYPE_BOOL:
		return "false"
	case pluginv1.Type_TYPE_DURATION:
		return `"30s"`
	case pluginv1.Type_TYPE_STRING_LIST:
		return "[]"
	case pluginv1.Type_TYPE_STRING_MAP:
		return "{}"
	}
	return `""`
}

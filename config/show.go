package config

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/hashicorp/hcl/v2/hclwrite"
	"github.com/zclconf/go-cty/cty"
	ctyjson "github.com/zclconf/go-cty/cty/json"

	"github.com/patchbay-dev/patchbay/sdk/schema"
)

// Show writes the configuration in effect as readable HCL: secrets masked, and behind each value where it came from.
// The config block of an instance is shown if DecodeInstance has been called for it.
func (f *File) Show(w io.Writer) error {
	p := &printer{}
	for _, b := range []*Block{f.core, f.storage} {
		p.printBlock(b)
	}
	for _, plugin := range f.Plugins {
		p.openBlock(blockTitle("plugin", []string{plugin.Name}))
		p.printNode(plugin.node)
		p.closeBlock()
	}
	for _, i := range f.Instances {
		p.printInstance(i)
	}
	for _, b := range f.services {
		p.printBlock(b)
	}
	p.printBlock(f.supervisor)
	if f.backup != nil && f.backup.Declared {
		p.printBlock(f.backup)
	}
	if _, err := w.Write(p.out.Bytes()); err != nil {
		return fmt.Errorf("write configuration: %w", err)
	}
	return nil
}

// printer writes blocks with indentation.
type printer struct {
	out   bytes.Buffer
	depth int
}

func (p *printer) printLine(format string, args ...any) {
	p.out.WriteString(strings.Repeat("  ", p.depth))
	fmt.Fprintf(&p.out, format, args...)
	p.out.WriteByte('\n')
}

func (p *printer) openBlock(title string) {
	if p.depth == 0 && p.out.Len() > 0 {
		p.out.WriteByte('\n')
	}
	p.printLine("%s {", title)
	p.depth++
}

func (p *printer) closeBlock() {
	p.depth--
	p.printLine("}")
}

func (p *printer) printBlock(b *Block) {
	if b == nil || !b.Declared && len(b.node.values) == 0 {
		return
	}
	var labels []string
	if b.Name != "" {
		labels = []string{b.Name}
	}
	p.openBlock(blockTitle(b.Type, labels))
	p.printNode(b.node)
	p.closeBlock()
}

func (p *printer) printInstance(i *Instance) {
	p.openBlock(blockTitle(i.Kind, []string{i.Plugin, i.Name}))
	p.printNode(i.args)
	switch {
	case i.decoded.Load() != nil:
		p.openBlock("config")
		p.printNode(i.decoded.Load())
		p.closeBlock()
	case i.config != nil:
		p.printLine("# config: not shown, the plugin has not told its schema")
	}
	p.closeBlock()
}

func (p *printer) printNode(n *node) {
	for _, v := range n.values {
		p.printLine("%s = %s # %s", v.attr.Name, v.formatHCL(), v.origin)
	}
	for _, g := range n.groups {
		for _, it := range g.items {
			var labels []string
			if g.block.Nesting == schema.Map {
				labels = []string{it.label}
			}
			p.openBlock(blockTitle(g.block.Name, labels))
			p.printNode(it.node)
			p.closeBlock()
		}
	}
}

// formatHCL returns the value as HCL on one line, masked if it is sensitive.
func (v *value) formatHCL() string {
	switch {
	case v.data == nil:
		return "null"
	case v.sensitive:
		return fmt.Sprintf("%q", schema.Redacted)
	case v.attr.Ref != "":
		return formatReferences(v.data)
	}
	data, err := json.Marshal(v.data)
	if err != nil {
		return "null"
	}
	return formatJSON(data)
}

func formatReferences(data any) string {
	if list, ok := data.([]string); ok {
		return "[" + strings.Join(list, ", ") + "]"
	}
	return fmt.Sprint(data)
}

// formatJSON returns JSON as HCL on one line.
func formatJSON(data []byte) string {
	t, err := ctyjson.ImpliedType(data)
	if err != nil {
		return "null"
	}
	val, err := ctyjson.Unmarshal(data, t)
	if err != nil {
		return "null"
	}
	if !t.IsObjectType() {
		return string(hclwrite.TokensForValue(val).Bytes())
	}
	var members []string
	for key, member := range val.Elements() {
		members = append(members, formatValue(key)+" = "+formatValue(member))
	}
	return "{ " + strings.Join(members, ", ") + " }"
}

func formatValue(v cty.Value) string { return string(hclwrite.TokensForValue(v).Bytes()) }

// EffectiveValue is one setting in effect: its place in the file with dots, such as service.mail.smtp.listen, its value, masked if it is
// sensitive, and where it came from.
type EffectiveValue struct {
	Setting string          `json:"setting"`
	Value   json.RawMessage `json:"value"`
	Origin  string          `json:"origin"`
}

// EffectiveValues returns what Show writes, for programs.
func (f *File) EffectiveValues() []EffectiveValue {
	var out []EffectiveValue
	addBlock := func(b *Block) {
		if b != nil && (b.Declared || len(b.node.values) > 0) {
			out = append(out, b.node.effectiveValues(joinNames(b.Type, b.Name))...)
		}
	}
	addBlock(f.core)
	addBlock(f.storage)
	for _, p := range f.Plugins {
		out = append(out, p.node.effectiveValues(joinNames("plugin", p.Name))...)
	}
	for _, i := range f.Instances {
		name := joinNames(i.Kind, i.Name)
		out = append(out, EffectiveValue{joinNames(name, "plugin"), json.RawMessage(strconv.Quote(i.Plugin)), "plugin.hcl"})
		out = append(out, i.args.effectiveValues(name)...)
		if decoded := i.decoded.Load(); decoded != nil {
			out = append(out, decoded.effectiveValues(joinNames(name, "config"))...)
		} else if i.config != nil {
			out = append(out, EffectiveValue{joinNames(name, "config"), json.RawMessage("null"), "not shown, the plugin has not told its schema"})
		}
	}
	for _, b := range f.services {
		addBlock(b)
	}
	addBlock(f.supervisor)
	if f.backup != nil && f.backup.Declared {
		addBlock(f.backup)
	}
	return out
}

// joinNames returns the names that are not empty, with dots between them.
func joinNames(names ...string) string {
	var kept []string
	for _, n := range names {
		if n != "" {
			kept = append(kept, n)
		}
	}
	return strings.Join(kept, ".")
}

// effectiveValues returns the values of a node and of the blocks in it.
func (n *node) effectiveValues(path string) (out []EffectiveValue) {
	for _, v := range n.values {
		data := v.data
		if v.sensitive && data != nil {
			data = schema.Redacted
		}
		raw, err := json.Marshal(data)
		if err != nil {
			raw = json.RawMessage("null")
		}
		out = append(out, EffectiveValue{joinNames(path, v.attr.Name), raw, v.origin})
	}
	for _, g := range n.groups {
		for n, it := range g.items {
			block := joinNames(path, g.block.Name, it.label)
			if g.block.Nesting == schema.List {
				block = fmt.Sprintf("%s[%d]", block, n)
			}
			out = append(out, it.node.effectiveValues(block)...)
		}
	}
	return out
}

package config

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
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
		p.block(b)
	}
	for _, plugin := range f.Plugins {
		p.open(blockTitle("plugin", []string{plugin.Name}))
		p.node(plugin.node)
		p.close()
	}
	for _, i := range f.Instances {
		p.instance(i)
	}
	for _, b := range f.services {
		p.block(b)
	}
	p.block(f.supervisor)
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

func (p *printer) line(format string, args ...any) {
	p.out.WriteString(strings.Repeat("  ", p.depth))
	fmt.Fprintf(&p.out, format, args...)
	p.out.WriteByte('\n')
}

func (p *printer) open(title string) {
	if p.depth == 0 && p.out.Len() > 0 {
		p.out.WriteByte('\n')
	}
	p.line("%s {", title)
	p.depth++
}

func (p *printer) close() {
	p.depth--
	p.line("}")
}

func (p *printer) block(b *Block) {
	if b == nil || !b.Declared && len(b.node.values) == 0 {
		return
	}
	var labels []string
	if b.Name != "" {
		labels = []string{b.Name}
	}
	p.open(blockTitle(b.Type, labels))
	p.node(b.node)
	p.close()
}

func (p *printer) instance(i *Instance) {
	p.open(blockTitle(i.Kind, []string{i.Plugin, i.Name}))
	p.node(i.args)
	switch {
	case i.decoded.Load() != nil:
		p.open("config")
		p.node(i.decoded.Load())
		p.close()
	case i.config != nil:
		p.line("# config: not shown, the plugin has not told its schema")
	}
	p.close()
}

func (p *printer) node(n *node) {
	for _, v := range n.values {
		p.line("%s = %s # %s", v.attr.Name, v.text(), v.origin)
	}
	for _, g := range n.groups {
		for _, it := range g.items {
			var labels []string
			if g.block.Nesting == schema.Map {
				labels = []string{it.label}
			}
			p.open(blockTitle(g.block.Name, labels))
			p.node(it.node)
			p.close()
		}
	}
}

// text writes the value as HCL on one line.
func (v *value) text() string {
	switch {
	case v.data == nil:
		return "null"
	case v.sensitive:
		return fmt.Sprintf("%q", schema.Redacted)
	case v.attr.Ref != "":
		return refText(v.data)
	}
	data, err := json.Marshal(v.data)
	if err != nil {
		return "null"
	}
	return hclText(data)
}

func refText(data any) string {
	if list, ok := data.([]string); ok {
		return "[" + strings.Join(list, ", ") + "]"
	}
	return fmt.Sprint(data)
}

// hclText writes JSON as HCL.
func hclText(data []byte) string {
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
		members = append(members, hclString(key)+" = "+hclString(member))
	}
	return "{ " + strings.Join(members, ", ") + " }"
}

func hclString(v cty.Value) string { return string(hclwrite.TokensForValue(v).Bytes()) }

package config

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty/function"

	"github.com/patchbay-dev/patchbay/sdk/schema"
)

// decoder turns the bodies of one file into nodes and collects what it finds.
type decoder struct {
	file  *File
	src   *source
	funcs map[string]function.Function
	diags Diagnostics
	// incomplete: the file has syntax errors, so what is missing may only have been lost.
	incomplete bool
}

func (f *File) decoder() *decoder {
	return &decoder{file: f, src: f.src, funcs: f.functions(), incomplete: f.incomplete}
}

func (d *decoder) errorAt(r Range, summary, format string, args ...any) {
	d.diags = append(d.diags, ErrorAt(r, summary, fmt.Sprintf(format, args...))...)
}

func (d *decoder) warnAt(r Range, summary, format string, args ...any) {
	d.diags = append(d.diags, WarningAt(r, summary, fmt.Sprintf(format, args...))...)
}

// body decodes a block against its schema. Blocks named in extra are handed back as they are. A nil body is one that
// is not written.
func (d *decoder) body(body hcl.Body, def Range, s *schema.Schema, extra ...string) (*node, hcl.Blocks) {
	if s == nil {
		s = &schema.Schema{}
	}
	if body == nil {
		body = hcl.EmptyBody()
	}
	content, found := body.Content(bodySchema(s, extra))
	d.diags = append(d.diags, withNames(d.src.convert(found), s, extra)...)
	if content == nil {
		content = &hcl.BodyContent{}
	}
	n := &node{schema: s, def: def}
	for _, a := range s.Attributes {
		n.values = append(n.values, d.attribute(a, content.Attributes[a.Name], def))
	}
	byType := content.Blocks.ByType()
	for _, b := range s.Blocks {
		n.groups = append(n.groups, d.group(b, byType[b.Name], def))
	}
	var rest hcl.Blocks
	for _, name := range extra {
		rest = append(rest, byType[name]...)
	}
	return n, rest
}

// withNames adds what could be written to findings about unknown names for which the parser has no suggestion.
func withNames(ds Diagnostics, s *schema.Schema, extra []string) Diagnostics {
	var attributes []string
	for _, a := range s.Attributes {
		attributes = append(attributes, a.Name)
	}
	blocks := slices.Clone(extra)
	for _, b := range s.Blocks {
		blocks = append(blocks, b.Name)
	}
	for i, d := range ds {
		names := attributes
		switch d.Summary {
		case "Unsupported argument":
		case "Unsupported block type":
			names = blocks
		case "Extraneous JSON object property":
			names = append(names, blocks...)
		default:
			continue
		}
		if !strings.Contains(d.Detail, "Did you mean") && len(names) > 0 {
			ds[i].Detail += " Possible are " + strings.Join(names, ", ") + "."
		}
	}
	return ds
}

// bodySchema leaves "required" to the decoder, which knows about the environment.
func bodySchema(s *schema.Schema, extra []string) *hcl.BodySchema {
	out := &hcl.BodySchema{}
	for _, a := range s.Attributes {
		out.Attributes = append(out.Attributes, hcl.AttributeSchema{Name: a.Name})
	}
	for _, b := range s.Blocks {
		h := hcl.BlockHeaderSchema{Type: b.Name}
		if b.Nesting == schema.Map {
			h.LabelNames = []string{"name"}
		}
		out.Blocks = append(out.Blocks, h)
	}
	for _, name := range extra {
		out.Blocks = append(out.Blocks, hcl.BlockHeaderSchema{Type: name})
	}
	return out
}

func (d *decoder) group(b *schema.Block, blocks hcl.Blocks, parent Range) *group {
	g := &group{block: b}
	if b.Nesting == schema.Single && len(blocks) > 1 {
		d.duplicate(fmt.Sprintf("Duplicate block %q", b.Name), blocks)
		blocks = blocks[:1]
	}
	if len(blocks) == 0 && b.Nesting == schema.Single && d.overridden(b.Schema) {
		n, _ := d.body(nil, Range{}, b.Schema)
		g.items = append(g.items, item{node: n})
		return g
	}
	if len(blocks) == 0 && b.Required && !d.incomplete {
		d.errorAt(parent, "Missing block", "Write a block %s { … } here.%s", b.Name, docOf(b.Doc))
	}
	seen := map[string]Range{}
	for _, block := range blocks {
		label, def := "", d.src.at(block.DefRange)
		if b.Nesting == schema.Map && len(block.Labels) == 1 {
			label = block.Labels[0]
			if first, ok := seen[label]; ok {
				d.errorAt(def, fmt.Sprintf("Duplicate block %q", b.Name),
					"A block of this name already stands at %s. Give each a name of its own.", first.Short())
				continue
			}
			seen[label] = def
		}
		n, _ := d.body(block.Body, def, b.Schema)
		g.items = append(g.items, item{label: label, node: n})
	}
	return g
}

func (d *decoder) duplicate(summary string, blocks hcl.Blocks) {
	first := d.src.at(blocks[0].DefRange)
	for _, b := range blocks[1:] {
		d.errorAt(d.src.at(b.DefRange), summary, "It already stands at %s. Keep one of them.", first.Short())
	}
}

// overridden reports whether the environment sets a value in a block that is not written.
func (d *decoder) overridden(s *schema.Schema) bool {
	for _, a := range s.Attributes {
		if _, ok := d.variable(a); ok {
			return true
		}
	}
	return slices.ContainsFunc(s.Blocks, func(b *schema.Block) bool {
		return b.Nesting == schema.Single && d.overridden(b.Schema)
	})
}

// variable returns the environment variable that overrides the attribute, if it is set and not empty.
func (d *decoder) variable(a *schema.Attribute) (string, bool) {
	if a.Env == "" {
		return "", false
	}
	text, ok := d.file.env(a.Env)
	return text, ok && text != ""
}

// attribute finds the value by precedence: environment, file, default.
func (d *decoder) attribute(a *schema.Attribute, at *hcl.Attribute, def Range) *value {
	v := &value{attr: a, sensitive: a.Sensitive, at: def}
	if at != nil && !a.Sensitive {
		d.src.show(at.Expr.Range())
	}
	if text, ok := d.variable(a); ok {
		v.origin, v.at = "environment "+a.Env, Range{File: "environment " + a.Env}
		d.fromEnvironment(v, text)
		d.deprecated(v)
		return v
	}
	if at != nil {
		v.expr, v.at = at.Expr, d.src.at(at.Expr.Range())
		v.origin = v.at.Short()
		if d.evaluate(v) {
			d.deprecated(v)
			return v
		}
		v.expr, v.at = nil, def
	}
	d.absent(v)
	return v
}

func (d *decoder) deprecated(v *value) {
	if v.attr.Deprecated != "" {
		d.warnAt(v.at, fmt.Sprintf("%q is deprecated", v.attr.Name), "%s.", v.attr.Deprecated)
	}
}

func (d *decoder) absent(v *value) {
	a := v.attr
	if a.Default != nil {
		v.origin, v.data = "default", parseJSON(a.Default)
		return
	}
	v.origin = "not set"
	if a.Required && !d.incomplete {
		d.errorAt(v.at, "Missing argument", "Write %s = … in this block.%s%s", a.Name, docOf(a.Doc), envHint(a))
	}
}

func docOf(doc string) string {
	if doc == "" {
		return ""
	}
	return " " + doc
}

func envHint(a *schema.Attribute) string {
	if a.Env == "" {
		return ""
	}
	return fmt.Sprintf(" The environment variable %s sets it as well.", a.Env)
}

// parseJSON reads the JSON of a default, which the schema has checked.
func parseJSON(raw []byte) any {
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	var v any
	if dec.Decode(&v) != nil {
		return nil
	}
	return v
}

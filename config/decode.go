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

// decoder decodes the blocks of one file into nodes and collects diagnostics.
type decoder struct {
	file  *File
	src   *source
	funcs map[string]function.Function
	diags Diagnostics
	// incomplete reports that the file has syntax errors, so that missing blocks and arguments are no errors.
	incomplete bool
}

func (f *File) newDecoder() *decoder {
	return &decoder{file: f, src: f.src, funcs: f.newFunctions(), incomplete: f.incomplete}
}

func (d *decoder) errorAt(r Range, summary, format string, args ...any) {
	d.diags = append(d.diags, ErrorAt(r, summary, fmt.Sprintf(format, args...))...)
}

func (d *decoder) warnAt(r Range, summary, format string, args ...any) {
	d.diags = append(d.diags, WarningAt(r, summary, fmt.Sprintf(format, args...))...)
}

// decodeBody decodes a block against its schema and returns the blocks named in extra undecoded. A nil body stands for a
// block that is not in the file.
func (d *decoder) decodeBody(body hcl.Body, def Range, s *schema.Schema, extra ...string) (*node, hcl.Blocks) {
	if s == nil {
		s = &schema.Schema{}
	}
	if body == nil {
		body = hcl.EmptyBody()
	}
	content, found := body.Content(bodySchema(s, extra))
	d.diags = append(d.diags, withNames(d.src.convertDiagnostics(found), s, extra)...)
	if content == nil {
		content = &hcl.BodyContent{}
	}
	n := &node{schema: s, def: def}
	for _, a := range s.Attributes {
		n.values = append(n.values, d.decodeAttribute(a, content.Attributes[a.Name], def))
	}
	byType := content.Blocks.ByType()
	for _, b := range s.Blocks {
		n.groups = append(n.groups, d.decodeGroup(b, byType[b.Name], def))
	}
	var rest hcl.Blocks
	for _, name := range extra {
		rest = append(rest, byType[name]...)
	}
	return n, rest
}

// withNames adds the permitted names to findings about unknown names for which the parser has no suggestion.
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

func (d *decoder) decodeGroup(b *schema.Block, blocks hcl.Blocks, parent Range) *group {
	g := &group{block: b}
	if b.Nesting == schema.Single && len(blocks) > 1 {
		d.reportDuplicates(fmt.Sprintf("Duplicate block %q", b.Name), blocks)
		blocks = blocks[:1]
	}
	if len(blocks) == 0 && b.Nesting == schema.Single && d.isSetByEnvironment(b.Schema) {
		n, _ := d.decodeBody(nil, Range{}, b.Schema)
		g.items = append(g.items, item{node: n})
		return g
	}
	if len(blocks) == 0 && b.Required && !d.incomplete {
		d.errorAt(parent, "Missing block", "Write a block %s { … } here.%s", b.Name, docHint(b.Doc))
	}
	seen := map[string]Range{}
	for _, block := range blocks {
		label, def := "", d.src.rangeAt(block.DefRange)
		if b.Nesting == schema.Map && len(block.Labels) == 1 {
			label = block.Labels[0]
			if first, ok := seen[label]; ok {
				d.errorAt(def, fmt.Sprintf("Duplicate block %q", b.Name),
					"A block of this name already stands at %s. Give each a name of its own.", first.Short())
				continue
			}
			seen[label] = def
		}
		n, _ := d.decodeBody(block.Body, def, b.Schema)
		g.items = append(g.items, item{label: label, node: n})
	}
	return g
}

func (d *decoder) reportDuplicates(summary string, blocks hcl.Blocks) {
	first := d.src.rangeAt(blocks[0].DefRange)
	for _, b := range blocks[1:] {
		d.errorAt(d.src.rangeAt(b.DefRange), summary, "It already stands at %s. Keep one of them.", first.Short())
	}
}

// isSetByEnvironment reports whether an environment variable sets any attribute of the schema or of its single blocks.
func (d *decoder) isSetByEnvironment(s *schema.Schema) bool {
	for _, a := range s.Attributes {
		if _, ok := d.lookupEnv(a); ok {
			return true
		}
	}
	return slices.ContainsFunc(s.Blocks, func(b *schema.Block) bool {
		return b.Nesting == schema.Single && d.isSetByEnvironment(b.Schema)
	})
}

// lookupEnv returns the environment variable that overrides the attribute, if it is set and not empty.
func (d *decoder) lookupEnv(a *schema.Attribute) (string, bool) {
	if a.Env == "" {
		return "", false
	}
	text, ok := d.file.env(a.Env)
	return text, ok && text != ""
}

// decodeAttribute returns the value from the environment, else from the file, else the default.
func (d *decoder) decodeAttribute(a *schema.Attribute, at *hcl.Attribute, def Range) *value {
	v := &value{attr: a, sensitive: a.Sensitive, at: def}
	if at != nil && !a.Sensitive {
		d.src.allowShown(at.Expr.Range())
	}
	if text, ok := d.lookupEnv(a); ok {
		v.origin, v.at = "environment "+a.Env, Range{File: "environment " + a.Env}
		d.decodeEnv(v, text)
		d.warnDeprecated(v)
		return v
	}
	if at != nil {
		v.expr, v.at = at.Expr, d.src.rangeAt(at.Expr.Range())
		v.origin = v.at.Short()
		if d.evaluateExpression(v) {
			d.warnDeprecated(v)
			return v
		}
		v.expr, v.at = nil, def
	}
	d.setDefault(v)
	return v
}

func (d *decoder) warnDeprecated(v *value) {
	if v.attr.Deprecated != "" {
		d.warnAt(v.at, fmt.Sprintf("%q is deprecated", v.attr.Name), "%s.", v.attr.Deprecated)
	}
}

func (d *decoder) setDefault(v *value) {
	a := v.attr
	if a.Default != nil {
		v.origin, v.data = "default", parseJSON(a.Default)
		return
	}
	v.origin = "not set"
	if a.Required && !d.incomplete {
		d.errorAt(v.at, "Missing argument", "Write %s = … in this block.%s%s", a.Name, docHint(a.Doc), envHint(a))
	}
}

func docHint(doc string) string {
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

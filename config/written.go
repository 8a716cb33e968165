package config

import (
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"github.com/patchbay-dev/patchbay/sdk/schema"
)

// Written is an attribute as it stands in the config block of an instance.
type Written struct {
	// Value is a string, a bool, a json.Number, a []string or a map[string]string: what the expression comes to. It is nil for
	// a secret.
	Value any
	// Expression is set for what is not a plain value, such as env("NAME"). A secret that stands in the file itself has …
	Expression string
}

// Written returns the attributes that stand in the config block of an instance, by their names with those of the single blocks
// around them, such as limits.day. DecodeInstance must have been called for it.
func (f *File) Written(i *Instance) map[string]Written {
	out := map[string]Written{}
	decoded := i.decoded.Load()
	if decoded == nil {
		return out
	}
	decoded.walkValues(nil, func(p schema.Path, v *value) {
		if v.expr == nil {
			return
		}
		w := Written{Value: v.data}
		switch {
		case isCallWithName(v.expr):
			w.Expression = f.sourceText(v.expr)
		case v.sensitive:
			w.Expression = hidden
		case !isLiteral(v.expr):
			w.Expression = f.sourceText(v.expr)
		}
		if v.sensitive {
			w.Value = nil
		}
		out[p.String()] = w
	})
	return out
}

// isLiteral reports whether an expression is a plain value.
func isLiteral(e hcl.Expression) bool {
	_, found := e.Value(nil)
	return !found.HasErrors()
}

// isCallWithName reports whether an expression is env("NAME") or secret_file("path"), in which no secret stands.
func isCallWithName(e hcl.Expression) bool {
	call, ok := e.(*hclsyntax.FunctionCallExpr)
	if !ok || call.Name != "env" && call.Name != "secret_file" || len(call.Args) != 1 {
		return false
	}
	name, found := call.Args[0].Value(nil)
	return !found.HasErrors() && name.Type() == cty.String
}

// sourceText returns an expression as it is written.
func (f *File) sourceText(e hcl.Expression) string {
	r := e.Range()
	if r.Start.Byte > r.End.Byte || r.End.Byte > len(f.src.bytes) {
		return hidden
	}
	return string(f.src.bytes[r.Start.Byte:r.End.Byte])
}

// showReferences allows the expressions in which no secret stands to appear in source lines, also of sensitive attributes.
func (f *File) showReferences() {
	show := func(_ schema.Path, v *value) {
		if v.expr != nil && isCallWithName(v.expr) {
			f.src.allowShown(v.expr.Range())
		}
	}
	for _, b := range append([]*Block{f.core, f.supervisor, f.backup, f.storage}, f.services...) {
		if b != nil {
			b.node.walkValues(nil, show)
		}
	}
	for _, i := range f.Instances {
		if decoded := i.decoded.Load(); decoded != nil {
			decoded.walkValues(nil, show)
		}
	}
}

// SettingAt returns the attribute of an instance's config block at which a finding is, by its name as in Written, or "" if it is at
// none.
func (f *File) SettingAt(i *Instance, d Diagnostic) (name string) {
	decoded := i.decoded.Load()
	if decoded == nil || d.Line == 0 {
		return ""
	}
	decoded.walkValues(nil, func(p schema.Path, v *value) {
		if v.expr != nil && f.src.rangeAt(v.expr.Range()).holds(d.Range) {
			name = p.String()
		}
	})
	if name == "" && d.Setting != "" && f.isAbout(i, d) {
		name, _, _ = strings.Cut(d.Setting, "[")
	}
	return name
}

// holds reports whether other begins within r.
func (r Range) holds(other Range) bool {
	afterStart := other.Line > r.Line || other.Line == r.Line && other.Column >= r.Column
	beforeEnd := other.Line < r.EndLine || other.Line == r.EndLine && other.Column <= r.EndColumn
	return afterStart && beforeEnd
}

// isAbout reports whether a finding is within the block of an instance.
func (f *File) isAbout(i *Instance, d Diagnostic) bool {
	body, ok := f.src.file.Body.(*hclsyntax.Body)
	if !ok || d.Line == 0 {
		return false
	}
	block := findBlock(body, blockName{i.Kind, []string{i.Plugin, i.Name}})
	return block != nil && f.src.rangeAt(block.Range()).holds(d.Range)
}

// Reference is an attribute of a service that names instances.
type Reference struct {
	Attribute, Kind, Doc string
	// IsList reports whether it may name several.
	IsList, Required bool
	// Refs are the instances that it names, such as search.docs.
	Refs []string
}

// ReferenceAttributes returns the attributes of the block that name instances.
func (b *Block) ReferenceAttributes() (out []Reference) {
	for _, v := range b.node.values {
		if a := v.attr; a.Ref != "" {
			refs := slices.DeleteFunc(slices.Clone(collectStrings(v.data)), func(ref string) bool { return ref == "" })
			out = append(out, Reference{Attribute: a.Name, Kind: a.Ref, Doc: a.Doc, IsList: a.Type == schema.StringList, Required: a.Required,
				Refs: refs})
		}
	}
	return out
}

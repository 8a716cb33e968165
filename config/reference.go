package config

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
)

// evaluateReference sets v from an expression that names one instance or a list of them. A list attribute also takes a
// single reference. It returns what evaluateExpression returns.
func (d *decoder) evaluateReference(v *value) bool {
	if hcl.ExprAsKeyword(v.expr) == "null" {
		return false
	}
	if ctyType(v.attr.Type) == cty.String {
		if ref := d.resolveExpression(v, v.expr); ref != "" {
			v.data = ref
		}
		return true
	}
	if _, found := hcl.AbsTraversalForExpr(v.expr); !found.HasErrors() {
		refs := []string{}
		if ref := d.resolveExpression(v, v.expr); ref != "" {
			refs = append(refs, ref)
		}
		v.data = refs
		return true
	}
	list, found := hcl.ExprList(v.expr)
	if found.HasErrors() {
		d.errorAt(v.at, "A list is wanted", "Write %s = [%s].", v.attr.Name, d.exampleRef(v))
		return true
	}
	refs := []string{}
	for _, e := range list {
		ref := d.resolveExpression(v, e)
		if ref != "" && slices.Contains(refs, ref) {
			d.errorAt(d.src.rangeAt(e.Range()), "Instance named twice", "%s already stands in this list. Remove one of them.", ref)
		}
		if ref != "" {
			refs = append(refs, ref)
		}
	}
	v.data = refs
	return true
}

// resolveExpression returns the instance that the expression names, as kind.name, or "" after an error.
func (d *decoder) resolveExpression(v *value, expr hcl.Expression) string {
	at := d.src.rangeAt(expr.Range())
	traversal, found := hcl.AbsTraversalForExpr(expr)
	if !found.HasErrors() {
		kind, name, ok := splitTraversal(traversal)
		return d.resolveReference(v, at, kind, name, ok)
	}
	val, found := expr.Value(&hcl.EvalContext{})
	if !found.HasErrors() && val.Type() == cty.String && !val.IsNull() && val.IsKnown() {
		example := d.exampleRef(v)
		if kind, name, ok := strings.Cut(val.AsString(), "."); ok && d.file.findInstance(kind, name) != nil {
			example = val.AsString()
		}
		d.errorAt(at, "A reference has no quotes", "Write %s without quotes.", example)
		return ""
	}
	d.errorAt(at, "A reference is wanted", "%q names an instance of the kind %s. Write %s.", v.attr.Name, v.attr.Ref, d.exampleRef(v))
	return ""
}

func splitTraversal(t hcl.Traversal) (kind, name string, ok bool) {
	if len(t) != 2 {
		return t.RootName(), "", false
	}
	step, ok := t[1].(hcl.TraverseAttr)
	return t.RootName(), step.Name, ok
}

// resolveReference returns kind.name if such an instance exists and is of the attribute's kind. Else it adds an error and
// returns "". The reference is malformed if ok is false.
func (d *decoder) resolveReference(v *value, at Range, kind, name string, ok bool) string {
	if !ok {
		d.errorAt(at, "A reference is wanted", "%q names an instance of the kind %s. Write %s.", v.attr.Name, v.attr.Ref, d.exampleRef(v))
		return ""
	}
	if kind == v.attr.Ref && d.file.findInstance(kind, name) != nil {
		return kind + "." + name
	}
	if d.incomplete {
		return ""
	}
	if kind != v.attr.Ref {
		summary := "Wrong kind of instance"
		if !slices.Contains(d.file.opts.Kinds, kind) {
			summary = "Unknown kind"
		}
		d.errorAt(at, summary, "%q names an instance of the kind %s. Write %s.", v.attr.Name, v.attr.Ref, d.exampleRef(v))
		return ""
	}
	none := fmt.Sprintf(`Declare one: %s "PLUGIN" %q { … }.`, kind, name)
	d.errorAt(at, fmt.Sprintf("Unknown %s instance", kind), "There is no %s.%s. %s", kind, name,
		didYouMean(kind+"."+name, d.file.instanceRefs(kind), none))
	return ""
}

// exampleRef returns a valid reference for the attribute, to be shown in errors.
func (d *decoder) exampleRef(v *value) string {
	if refs := d.file.instanceRefs(v.attr.Ref); len(refs) > 0 {
		return refs[0]
	}
	return v.attr.Ref + ".NAME"
}

// instanceRefs returns the references of a kind's instances in the order of the file.
func (f *File) instanceRefs(kind string) []string {
	var out []string
	for _, i := range f.Instances {
		if i.Kind == kind {
			out = append(out, i.Ref())
		}
	}
	return out
}

func (f *File) findInstance(kind, name string) *Instance {
	for _, i := range f.Instances {
		if i.Kind == kind && i.Name == name {
			return i
		}
	}
	return nil
}

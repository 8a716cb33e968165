package config

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"

	"github.com/patchbay-dev/patchbay/sdk/schema"
)

// ctyType returns the type to which the value of an attribute is converted.
func ctyType(t schema.Type) cty.Type {
	switch t {
	case schema.Number, schema.Integer:
		return cty.Number
	case schema.Bool:
		return cty.Bool
	case schema.StringList:
		return cty.List(cty.String)
	case schema.StringMap:
		return cty.Map(cty.String)
	}
	return cty.String
}

// evaluateExpression sets v.data from the value's expression. It returns false if the result is null, which counts as
// absent. After an error it returns true and leaves v.data nil.
func (d *decoder) evaluateExpression(v *value) bool {
	if v.attr.Ref != "" {
		return d.evaluateReference(v)
	}
	if vars := v.expr.Variables(); len(vars) > 0 {
		d.errorAt(d.src.rangeAt(vars[0].SourceRange()), "A name cannot stand here",
			"%q takes %s. Write text in double quotes.", v.attr.Name, v.attr.Type)
		return true
	}
	val, found := v.expr.Value(&hcl.EvalContext{Functions: d.funcs})
	if found.HasErrors() {
		d.diags = append(d.diags, d.src.convertDiagnostics(found)...)
		return true
	}
	val, marks := val.UnmarkDeep()
	if _, ok := marks[sensitiveMark{}]; ok {
		v.sensitive = true
	}
	if val.IsNull() {
		return false
	}
	if hasHugeNumber(val) {
		d.errorAt(v.at, "Number too large", "A number in %q has an exponent beyond ±999.", v.attr.Name)
		return true
	}
	d.warnLiteral(v)
	converted, err := convert.Convert(val, ctyType(v.attr.Type))
	if err != nil || !converted.IsWhollyKnown() {
		d.reportWrongType(v, err)
		return true
	}
	v.data = d.goValue(v, converted)
	return true
}

// warnLiteral adds a warning if a sensitive value is written in the file itself.
func (d *decoder) warnLiteral(v *value) {
	if !v.attr.Sensitive {
		return
	}
	val, found := v.expr.Value(&hcl.EvalContext{})
	if found.HasErrors() || val.IsNull() || val.Type() == cty.String && val.AsString() == "" {
		return
	}
	d.warnAt(v.at, "A secret stands in the file", `Use env("NAME") or secret_file("path") for %q.`, v.attr.Name)
}

func (d *decoder) reportWrongType(v *value, err error) {
	at := v.at
	if e, ok := errors.AsType[cty.PathError](err); ok && len(e.Path) > 0 {
		if step, ok := e.Path[0].(cty.IndexStep); ok {
			at = d.elementRange(v, step.Key)
		}
	}
	if v.attr.Type == schema.Duration {
		d.reportInvalidDuration(v)
		return
	}
	d.errorAt(at, "Wrong type", "%q must be %s.", v.attr.Name, v.attr.Type)
}

func (d *decoder) reportInvalidDuration(v *value) {
	d.errorAt(v.at, "Invalid duration",
		`%q must be a number with a unit (ms, s, m, h). Write for example "90s" or "1h30m".`, v.attr.Name)
}

// elementRange returns the place of one element of a list or map expression.
func (d *decoder) elementRange(v *value, key cty.Value) Range {
	switch key.Type() {
	case cty.Number:
		i, _ := key.AsBigFloat().Int64()
		return d.file.stepRange(v, schema.Step{Kind: schema.StepIndex, Index: int(i)})
	case cty.String:
		return d.file.stepRange(v, schema.Step{Kind: schema.StepKey, Name: key.AsString()})
	}
	return v.at
}

// goValue returns the value as encoding/json takes it, or nil after an error.
func (d *decoder) goValue(v *value, val cty.Value) any {
	switch v.attr.Type {
	case schema.Bool:
		return val.True()
	case schema.Number:
		return json.Number(val.AsBigFloat().Text('g', -1))
	case schema.Integer:
		return d.checkInteger(v, val.AsBigFloat())
	case schema.StringList:
		return d.decodeStringList(v, val)
	case schema.StringMap:
		return d.decodeStringMap(v, val)
	case schema.Duration:
		return d.checkDuration(v, val.AsString())
	}
	return d.checkText(v, val.AsString(), v.at)
}

// hasHugeNumber reports whether the value holds a number that would take long to write in decimal.
func hasHugeNumber(val cty.Value) bool {
	found := false
	_ = cty.Walk(val, func(_ cty.Path, v cty.Value) (bool, error) {
		if v.Type() == cty.Number && v.IsKnown() && !v.IsNull() {
			n := v.AsBigFloat()
			exponent := n.MantExp(nil)
			found = found || n.IsInf() || exponent > maxExponent || exponent < -maxExponent
		}
		return !found, nil
	})
	return found
}

// maxExponent is that of 1e999, in base 2.
const maxExponent = 3320

func (d *decoder) checkInteger(v *value, n *big.Float) any {
	if i, accuracy := n.Int64(); accuracy == big.Exact {
		return json.Number(strconv.FormatInt(i, 10))
	}
	d.errorAt(v.at, "Wrong type", "%q must be a whole number.", v.attr.Name)
	return nil
}

func (d *decoder) checkDuration(v *value, text string) any {
	if _, err := time.ParseDuration(text); err != nil {
		d.reportInvalidDuration(v)
		return nil
	}
	return text
}

// checkText returns a text, or nil after an error about it.
func (d *decoder) checkText(v *value, text string, at Range) any {
	if err := schema.CheckUserInfo(text); err != nil {
		d.errorAt(at, "Invalid address", "%q %v.", v.attr.Name, err)
		return nil
	}
	return d.checkEnum(v, text, at)
}

func (d *decoder) checkEnum(v *value, text string, at Range) any {
	if len(v.attr.Enum) == 0 || slices.Contains(v.attr.Enum, text) {
		return text
	}
	d.errorAt(at, "Value not permitted", "%q must be one of %s.", v.attr.Name, quoteAll(v.attr.Enum))
	return nil
}

func (d *decoder) decodeStringList(v *value, val cty.Value) any {
	out := []string{}
	for key, e := range val.Elements() {
		if e.IsNull() {
			d.errorAt(d.elementRange(v, key), "Wrong type", "An element of %q must not be null.", v.attr.Name)
			return nil
		}
		if d.checkText(v, e.AsString(), d.elementRange(v, key)) == nil {
			return nil
		}
		out = append(out, e.AsString())
	}
	return out
}

func (d *decoder) decodeStringMap(v *value, val cty.Value) any {
	out := map[string]string{}
	for key, e := range val.Elements() {
		if e.IsNull() {
			d.errorAt(d.elementRange(v, key), "Wrong type", "A member of %q must not be null.", v.attr.Name)
			return nil
		}
		if d.checkText(v, e.AsString(), d.elementRange(v, key)) == nil {
			return nil
		}
		out[key.AsString()] = e.AsString()
	}
	return out
}

func quoteAll(words []string) string {
	quoted := make([]string, len(words))
	for i, w := range words {
		quoted[i] = fmt.Sprintf("%q", w)
	}
	return strings.Join(quoted, ", ")
}

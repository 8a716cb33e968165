package config

import (
	"strings"

	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"

	"github.com/patchbay-dev/patchbay/sdk/schema"
)

// decodeEnv sets v from the text of its environment variable.
func (d *decoder) decodeEnv(v *value, text string) {
	switch v.attr.Type {
	case schema.StringList:
		out := []string{}
		for part := range strings.SplitSeq(text, ",") {
			if part = strings.TrimSpace(part); part != "" {
				out = append(out, part)
			}
		}
		v.data = out
		for _, e := range out {
			if !d.checkEnvText(v, e) {
				v.data = nil
			}
		}
	case schema.StringMap:
		v.data = d.decodeEnvMap(v, text)
	default:
		d.decodeEnvScalar(v, text)
	}
}

func (d *decoder) checkEnvText(v *value, text string) bool {
	if v.attr.Ref != "" {
		kind, name, ok := strings.Cut(text, ".")
		return d.resolveReference(v, v.at, kind, name, ok) != ""
	}
	return d.checkText(v, text, v.at) != nil
}

func (d *decoder) decodeEnvScalar(v *value, text string) {
	converted, err := convert.Convert(cty.StringVal(strings.ToValidUTF8(text, "?")), ctyType(v.attr.Type))
	if err != nil {
		d.reportWrongType(v, err)
		return
	}
	if v.attr.Ref == "" || d.checkEnvText(v, text) {
		v.data = d.goValue(v, converted)
	}
}

func (d *decoder) decodeEnvMap(v *value, text string) any {
	out := map[string]string{}
	for part := range strings.SplitSeq(text, ",") {
		key, member, ok := strings.Cut(part, "=")
		if !ok {
			d.errorAt(v.at, "Wrong type", "Write the members of %q as key=value, separated by commas.", v.attr.Name)
			return nil
		}
		if member = strings.TrimSpace(member); d.checkText(v, member, v.at) == nil {
			return nil
		}
		out[strings.TrimSpace(key)] = member
	}
	return out
}

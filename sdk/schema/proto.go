package schema

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
	"unicode"

	"google.golang.org/protobuf/proto"

	pluginv1 "github.com/patchbay-dev/patchbay/sdk/proto/patchbay/plugin/v1"
)

// Limits of what is read of a diagnostic that another process sent.
const (
	maxSummary = 500
	maxDetail  = 4000
	maxPath    = 32
)

// Proto returns the schema as it crosses the wire. Env and Ref stay behind.
func (s *Schema) Proto() *pluginv1.Schema {
	if s == nil {
		return nil
	}
	out := &pluginv1.Schema{}
	for _, a := range s.Attributes {
		out.Attributes = append(out.Attributes, &pluginv1.Attribute{
			Name: a.Name, Type: pluginv1.Type(a.Type), Required: a.Required, DefaultJson: string(a.Default),
			Sensitive: a.Sensitive, Doc: a.Doc, Enum: a.Enum, Deprecated: a.Deprecated,
		})
	}
	for _, b := range s.Blocks {
		out.Blocks = append(out.Blocks, &pluginv1.Block{
			Name: b.Name, Nesting: pluginv1.Nesting(b.Nesting), Schema: b.Schema.Proto(), Doc: b.Doc, Required: b.Required,
		})
	}
	return out
}

// FromProto reads a schema that a plugin sent. It refuses one that breaks the limits, or whose names, types or
// defaults are wrong. Nil is the schema without attributes.
func FromProto(p *pluginv1.Schema) (*Schema, error) {
	if size := proto.Size(p); size > MaxSize {
		return nil, fmt.Errorf("schema: %d bytes, the limit is %d", size, MaxSize)
	}
	s, err := fromProto(p, 1)
	if err != nil {
		return nil, err
	}
	return s, s.checkSchema()
}

func fromProto(p *pluginv1.Schema, depth int) (*Schema, error) {
	if depth > MaxDepth {
		return nil, fmt.Errorf("schema: blocks nest deeper than %d", MaxDepth)
	}
	s := &Schema{}
	for _, a := range p.GetAttributes() {
		if a == nil {
			return nil, errors.New("schema: an attribute is null")
		}
		attr := &Attribute{
			Name: a.Name, Type: Type(a.Type), Required: a.Required, Sensitive: a.Sensitive, Doc: a.Doc,
			Enum: a.Enum, Deprecated: a.Deprecated,
		}
		if a.DefaultJson != "" {
			attr.Default = json.RawMessage(a.DefaultJson)
		}
		s.Attributes = append(s.Attributes, attr)
	}
	for _, b := range p.GetBlocks() {
		inner, err := fromProto(b.GetSchema(), depth+1)
		if err != nil {
			return nil, err
		}
		s.Blocks = append(s.Blocks, &Block{
			Name: b.GetName(), Nesting: Nesting(b.GetNesting()), Schema: inner, Doc: b.GetDoc(), Required: b.GetRequired(),
		})
	}
	return s, nil
}

// Proto returns the first MaxDiagnostics diagnostics as they cross the wire; one more counts the rest.
func (ds Diagnostics) Proto() []*pluginv1.Diagnostic {
	var out []*pluginv1.Diagnostic
	for _, d := range ds.capDiagnostics() {
		p := &pluginv1.Diagnostic{Severity: pluginv1.Severity(d.Severity), Summary: d.Summary, Detail: d.Detail}
		for _, s := range d.Path {
			p.Path = append(p.Path, s.toProto())
		}
		out = append(out, p)
	}
	return out
}

// DiagnosticsFromProto reads diagnostics that another process sent: at most MaxDiagnostics of them, without control
// characters and cut to a sensible length. One without a severity is an error.
func DiagnosticsFromProto(in []*pluginv1.Diagnostic) Diagnostics {
	var ds Diagnostics
	for _, p := range in[:min(len(in), MaxDiagnostics+1)] {
		d := Diagnostic{Severity: Error, Summary: cleanText(p.GetSummary(), maxSummary), Detail: cleanText(p.GetDetail(), maxDetail)}
		if p.GetSeverity() == pluginv1.Severity_SEVERITY_WARNING {
			d.Severity = Warning
		}
		for _, s := range p.GetPath()[:min(len(p.GetPath()), maxPath)] {
			if step, ok := stepFromProto(s); ok {
				d.Path = append(d.Path, step)
			}
		}
		ds = append(ds, d)
	}
	return ds
}

func (ds Diagnostics) capDiagnostics() Diagnostics {
	if len(ds) <= MaxDiagnostics {
		return ds
	}
	out, rest := append(Diagnostics(nil), ds[:MaxDiagnostics]...), ds[MaxDiagnostics:]
	last := Diagnostic{Severity: Warning, Summary: fmt.Sprintf("%d more findings are not shown", len(rest))}
	if rest.HasErrors() {
		last.Severity = Error
	}
	return append(out, last)
}

func (s Step) toProto() *pluginv1.Step {
	switch s.Kind {
	case StepIndex:
		return &pluginv1.Step{Step: &pluginv1.Step_Index{Index: int64(s.Index)}}
	case StepKey:
		return &pluginv1.Step{Step: &pluginv1.Step_Key{Key: s.Name}}
	}
	return &pluginv1.Step{Step: &pluginv1.Step_Attribute{Attribute: s.Name}}
}

func stepFromProto(p *pluginv1.Step) (Step, bool) {
	switch s := p.GetStep().(type) {
	case *pluginv1.Step_Attribute:
		return Step{Kind: StepAttribute, Name: cleanText(s.Attribute, maxSummary)}, true
	case *pluginv1.Step_Key:
		return Step{Kind: StepKey, Name: cleanText(s.Key, maxSummary)}, true
	case *pluginv1.Step_Index:
		if s.Index >= 0 && s.Index <= math.MaxInt32 {
			return Step{Kind: StepIndex, Index: int(s.Index)}, true
		}
	}
	return Step{}, false
}

// cleanText makes text from another process safe for a terminal and a log.
func cleanText(text string, limit int) string {
	if len(text) > limit {
		text = strings.ToValidUTF8(text[:limit], "") + "…"
	}
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) {
			return ' '
		}
		return r
	}, text)
}

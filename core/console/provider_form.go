package console

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/gin-gonic/gin"

	"github.com/patchbay-dev/patchbay/core/fault"
)

// fewSettings is how many settings a form shows at once, besides those that have to be looked at.
const fewSettings = 5

// settingField is a setting in a form.
type settingField struct {
	Setting
	// Text is what stands in the field and Source where the value of a secret comes from.
	Text, Source string
	// Expression stands in the file and is kept unless the field is filled in.
	Expression string
	// IsTyped reports whether the secret was typed in before and is kept.
	IsTyped  bool
	Findings []Finding
}

// hasChoices reports whether one of a few texts is to be chosen.
func (s settingField) hasChoices() bool { return len(s.Enum) > 0 && s.Type == "string" }

// useField is what a form asks about a reference of a service.
type useField struct {
	Reference
	// Mode is no, instead, first or last, or useUndecided until the person has chosen.
	Mode string
}

// The modes of a useField.
const (
	useNot       = "no"
	useInstead   = "instead"
	useFirst     = "first"
	useLast      = "last"
	useUndecided = ""
)

// fieldName is that of the field in the form.
func (u useField) fieldName() string { return "use." + u.Service + "." + u.Attribute }

// namingModes are the ways in which a new instance can be named.
func (u useField) namingModes() []string {
	if u.IsList && len(u.Refs) > 0 {
		return []string{useNot, useFirst, useLast, useInstead}
	}
	return []string{useNot, useInstead}
}

// withRef returns the instances that the reference names once ref is named as mode says.
func (u useField) withRef(mode, ref string) []string {
	others := slices.DeleteFunc(slices.Clone(u.Refs), func(r string) bool { return r == ref })
	switch {
	case mode == useFirst && u.IsList:
		return append([]string{ref}, others...)
	case mode == useLast && u.IsList:
		return append(others, ref)
	}
	return []string{ref}
}

// providerForm is a form that adds an instance, or changes one.
type providerForm struct {
	Choice
	// Ref is the instance that changes; "" if one is added, which gets Name.
	Ref, Name string
	// Main are the settings that are shown at once, Rest the others.
	Main, Rest []settingField
	Uses       []useField
	// Findings are those that are about no setting.
	Findings []Finding
	NameErr  []Finding
	Draft    string
	Writing  Writing
}

// newProviderForm returns a form for a plugin. current are the settings in the file, and draft is what was sent before, if its ID is
// set.
func newProviderForm(choice Choice, ref string, current map[string]Current, draft Change) providerForm {
	f := providerForm{Choice: choice, Ref: ref, Name: draft.Proposal.Name, Draft: draft.ID}
	known := map[string]bool{"name": true}
	for _, s := range choice.Settings {
		if s.Repeated {
			continue
		}
		known[s.Name] = true
		field := newField(s, current[s.Name], draft)
		_, written := current[s.Name]
		if s.Required || s.Secret || written || field.Text != "" || len(field.Findings) > 0 {
			f.Main = append(f.Main, field)
		} else {
			f.Rest = append(f.Rest, field)
		}
	}
	for len(f.Main) < fewSettings && len(f.Rest) > 0 {
		f.Main, f.Rest = append(f.Main, f.Rest[0]), f.Rest[1:]
	}
	for _, found := range draft.Findings {
		switch {
		case found.Field == "name":
			f.NameErr = append(f.NameErr, found)
		case !known[found.Field]:
			f.Findings = append(f.Findings, found)
		}
	}
	return f
}

// newField returns the field of a setting with what was sent before, else with what stands in the file.
func newField(s Setting, current Current, draft Change) settingField {
	field := settingField{Setting: s, Text: current.Text, Expression: current.Expression, Source: Keep}
	if s.Secret && current.Expression == "" {
		field.Source = FromForm
		if s.Required {
			field.Source = FromFile
		}
	}
	for _, v := range draft.Proposal.Values {
		if v.Name == s.Name {
			field.Text, field.Source, field.IsTyped = v.Text, v.Source, v.Source == FromFile
		}
	}
	for _, found := range draft.Findings {
		if found.Field == s.Name {
			field.Findings = append(field.Findings, found)
		}
	}
	return field
}

// addUses has the form ask about the references of the services to instances of the kind. wanted names one that is meant to have the
// new instance, as service.attribute.
func (f *providerForm) addUses(refs []Reference, wanted string, draft Change) {
	for _, r := range refs {
		if r.Kind != f.Kind {
			continue
		}
		u := useField{Reference: r, Mode: useNot}
		if r.Service+"."+r.Attribute == wanted {
			u.Mode = useInstead
			if len(u.namingModes()) > 2 { // whether the others stay is for the person to say
				u.Mode = useUndecided
			}
		}
		for _, sent := range draft.Proposal.Uses {
			if sent.Service == r.Service && sent.Attribute == r.Attribute {
				u.Mode = u.useMode(sent.Refs, f.Kind+"."+draft.Proposal.Name)
			}
		}
		if draft.ID != "" && len(draft.Proposal.Uses) == 0 {
			u.Mode = useNot
		}
		f.Uses = append(f.Uses, u)
	}
}

// useMode returns how refs name an instance.
func (u useField) useMode(refs []string, ref string) string {
	switch i := slices.Index(refs, ref); {
	case i < 0:
		return useNot
	case len(refs) == 1:
		return useInstead
	case i == 0:
		return useFirst
	}
	return useLast
}

// readProposal returns what a form asks for.
func (h *providerPages) readProposal(gc *gin.Context) (Proposal, error) {
	p := Proposal{
		Add: gc.PostForm("add"), Name: strings.TrimSpace(gc.PostForm("name")), Set: gc.PostForm("set"), Remove: gc.PostForm("remove"),
		Draft: gc.PostForm("draft"),
	}
	var choice Choice
	var current map[string]Current
	var err error
	switch {
	case p.Add != "":
		choice, err = h.findChoice(gc, p.Add)
		kind, _, _ := strings.Cut(p.Add, "/")
		for _, r := range h.cfg.Configurator.References() {
			u := useField{Reference: r}
			if mode := gc.PostForm(u.fieldName()); r.Kind == kind && mode != useNot && mode != useUndecided {
				r.Refs = u.withRef(mode, kind+"."+p.Name)
				p.Uses = append(p.Uses, r)
			}
		}
	case p.Set != "":
		choice, current, err = h.cfg.Configurator.Settings(gc.Request.Context(), p.Set)
	case p.Remove == "":
		p.Uses, err = h.readOrder(gc)
	}
	if err != nil {
		return p, err
	}
	for _, s := range choice.Settings {
		if v, ok := readSetting(gc, s, current[s.Name]); ok {
			p.Values = append(p.Values, v)
		}
	}
	return p, nil
}

// readSetting returns the value of a setting in a form. It reports false if the form has none.
func readSetting(gc *gin.Context, s Setting, current Current) (Value, bool) {
	v := Value{Name: s.Name, Source: FromForm}
	if s.Secret {
		v.Source = gc.PostForm("source." + s.Name)
		typed, variable := gc.PostForm("file."+s.Name), gc.PostForm("env."+s.Name)
		// Whoever types a secret in and leaves the choice above it as it was wants the secret.
		if v.Source == FromForm || v.Source == Keep {
			switch {
			case typed != "":
				v.Source = FromFile
			case variable != "":
				v.Source = FromEnvironment
			}
		}
		switch v.Source {
		case FromEnvironment:
			v.Text = variable
		case FromFile:
			v.Text = typed
		case FromForm, Keep:
		default:
			return v, false
		}
		return v, true
	}
	text, sent := gc.GetPostForm("value." + s.Name)
	v.Text = strings.ReplaceAll(text, "\r\n", "\n")
	if !sent || s.Repeated {
		return v, false
	}
	if v.Text == "" && current.Expression != "" || v.Text == current.Text && current.Text != "" {
		v.Source = Keep
	}
	return v, true
}

// readOrder returns the instances that a reference is to name, by the places that a form gives them.
func (h *providerPages) readOrder(gc *gin.Context) ([]Reference, error) {
	r, err := h.findReference(gc.PostForm("use"))
	if err != nil {
		return nil, err
	}
	places := map[string]int{}
	r.Refs = nil
	for _, in := range h.cfg.Providers.Instances() {
		if in.Kind != r.Kind {
			continue
		}
		field := "place." + in.Ref
		place := 0
		if text := gc.PostForm(field); text != "" {
			if place, err = strconv.Atoi(text); err != nil || place < 0 {
				return nil, fault.New(fault.InvalidRequest, "The place of %s is a number: 1 for the first, 0 for none.", in.Ref).With("field", field)
			}
		}
		if gc.PostForm("only") == in.Ref {
			place = 1
		}
		if place > 0 {
			places[in.Ref] = place
			r.Refs = append(r.Refs, in.Ref)
		}
	}
	slices.SortStableFunc(r.Refs, func(a, b string) int { return cmp.Compare(places[a], places[b]) })
	return []Reference{r}, nil
}

// requiredSettings returns the settings that an instance cannot do without.
func (c Choice) requiredSettings() (names []string) {
	for _, s := range c.Settings {
		if s.Required && !s.Repeated && !strings.Contains(s.Name, ".") {
			names = append(names, s.Name)
		}
	}
	return names
}

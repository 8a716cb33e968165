package console

import (
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/a-h/templ"

	"github.com/patchbay-dev/patchbay/core/console/ui"
)

// listKinds returns the kinds of plugins, in their order.
func listKinds(choices []Choice) (kinds []string) {
	for _, p := range choices {
		if !slices.Contains(kinds, p.Kind) {
			kinds = append(kinds, p.Kind)
		}
	}
	return kinds
}

// ofKind returns the plugins of a kind.
func ofKind(choices []Choice, kind string) (out []Choice) {
	for _, p := range choices {
		if p.Kind == kind {
			out = append(out, p)
		}
	}
	return out
}

// addAddress returns the address of the form for a new instance of a plugin.
func addAddress(p Choice, wanted string) string {
	to := addPath + "/" + p.Kind + "/" + p.Plugin
	if wanted != "" {
		to += "?" + url.Values{"for": {wanted}}.Encode()
	}
	return to
}

// findPlace returns the place of an instance in a reference, from 1; 0 if it is not named.
func findPlace(r Reference, in Instance) int { return slices.Index(r.Refs, in.Ref) + 1 }

// invalidAttributes returns the attributes of a field with findings.
func invalidAttributes(id string, list []Finding) templ.Attributes {
	if len(list) == 0 {
		return nil
	}
	return templ.Attributes{"aria-invalid": "true", "aria-describedby": id + "-error"}
}

// plainDefault returns the default of a setting as it would be typed.
func plainDefault(s Setting) string {
	var text string
	if json.Unmarshal([]byte(s.Default), &text) == nil {
		return text
	}
	return strings.Trim(s.Default, "[]{}")
}

// settingHint tells what may stand in a field, and what holds if nothing does.
func settingHint(v *ui.View, s settingField) string {
	words := []string{}
	if !s.Secret && s.Type != "string" && s.Type != "bool" {
		words = append(words, v.T("provider.type."+s.Type))
	}
	if s.Default != "" && plainDefault(s.Setting) != "" {
		words = append(words, v.T("provider.default.is", "Default", plainDefault(s.Setting)))
	}
	if !s.Secret && s.Expression != "" {
		words = append(words, v.T("provider.keeps", "Expression", s.Expression))
	}
	return strings.Join(words, " ")
}

// envText returns the name of the environment variable that a form had.
func envText(s settingField) string {
	if s.Source == FromEnvironment {
		return s.Text
	}
	return ""
}

// useText tells what a service would use.
func useText(v *ui.View, u useField, mode string) string {
	now := strings.Join(u.Refs, ", ")
	if now == "" && mode == useNot {
		return v.T("provider.use.none")
	}
	return v.T(fmt.Sprintf("provider.use.%s", mode), "Now", now)
}

// referencesTo returns the references that name an instance.
func referencesTo(refs []Reference, ref string) (out []Reference) {
	for _, r := range refs {
		if slices.Contains(r.Refs, ref) {
			out = append(out, r)
		}
	}
	return out
}

// maxRestarts is how many ends of a process its page shows.
const maxRestarts = 20

// filterEnds returns the events of a process that tell of its ends.
func filterEnds(events []Event) (ends []Event) {
	for _, e := range events {
		if e.Kind == "ended" || e.Kind == "failed" || e.Kind == "restart" {
			ends = append(ends, e)
		}
	}
	return ends[:min(len(ends), maxRestarts)]
}

// exitText tells how a process has ended.
func exitText(v *ui.View, e Event) string {
	switch {
	case e.Exit == "":
		return "–"
	case e.Exit[0] >= '0' && e.Exit[0] <= '9':
		return v.T("plugins.exit.code", "Code", e.Exit)
	}
	return v.T("plugins.exit.signal", "Signal", e.Exit)
}

// isChannel reports whether a test message can be sent through the instance.
func (i Instance) isChannel() bool { return i.Kind == "notify" }

package app

import (
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/patchbay-dev/patchbay/config"
	"github.com/patchbay-dev/patchbay/core/console"
	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/lists"
	"github.com/patchbay-dev/patchbay/core/secret"
	"github.com/patchbay-dev/patchbay/core/settings"
)

// maxSecret is the largest secret that a form takes, in bytes.
const maxSecret = 16 << 10

// formReader makes expressions of what stands in a form.
type formReader struct {
	set      *settings.Settings
	ref      string
	earlier  map[string][]byte
	secrets  map[string][]byte
	findings []console.Finding
}

// refuse notes what is wrong with a field.
func (r *formReader) refuse(field, textID string) {
	r.findings = append(r.findings, console.Finding{Field: field, TextID: textID})
}

// readSettings returns the settings that a form changes. adding reports whether they are those of a new instance.
func (r *formReader) readSettings(choice console.Choice, values []console.Value, adding bool) (out []config.Setting) {
	for _, s := range choice.Settings {
		i := slices.IndexFunc(values, func(v console.Value) bool { return v.Name == s.Name })
		if s.Repeated || i < 0 || values[i].Source == console.Keep {
			if adding && s.Required && !s.Repeated && !strings.Contains(s.Name, ".") {
				r.refuse(s.Name, "change.required")
			}
			continue
		}
		v := values[i]
		if v.Text == "" && v.Source != console.FromFile && s.Required {
			r.refuse(s.Name, "change.required")
			continue
		}
		e, problem := r.readValue(s, v)
		if problem != "" {
			r.refuse(s.Name, problem)
			continue
		}
		if adding && e.IsZero() {
			continue
		}
		out = append(out, config.Setting{Path: strings.Split(s.Name, "."), Value: e})
	}
	return out
}

// readValue returns the expression of a value, or the id of the text that tells what is wrong with it.
func (r *formReader) readValue(s console.Setting, v console.Value) (e config.Expression, problem string) {
	var err error
	switch v.Source {
	case console.FromEnvironment:
		if e, err = config.EnvironmentExpression(strings.TrimSpace(v.Text)); err != nil {
			return e, "change.bad_variable"
		}
		return e, ""
	case console.FromFile:
		return r.readSecret(s, v.Text)
	}
	if v.Text == "" {
		return e, ""
	}
	if s.Secret {
		return e, "change.literal_secret"
	}
	return readText(s, v.Text)
}

// readText returns the expression of a text that is no secret.
func readText(s console.Setting, text string) (e config.Expression, problem string) {
	var err error
	switch s.Type {
	case "bool":
		b, err := strconv.ParseBool(text)
		if err != nil {
			return e, "change.bad_bool"
		}
		return config.BoolExpression(b), ""
	case "integer":
		if _, err = strconv.ParseInt(strings.TrimSpace(text), 10, 64); err != nil {
			return e, "change.bad_integer"
		}
		fallthrough
	case "number":
		if e, err = config.NumberExpression(strings.TrimSpace(text)); err != nil {
			return e, "change.bad_number"
		}
		return e, ""
	case "duration":
		if _, err = time.ParseDuration(strings.TrimSpace(text)); err != nil {
			return e, "change.bad_duration"
		}
		return config.StringExpression(strings.TrimSpace(text)), ""
	case "string_list":
		return config.ListExpression(textLines(text)), ""
	case "string_map":
		m := map[string]string{}
		for _, line := range textLines(text) {
			key, value, ok := strings.Cut(line, "=")
			if !ok {
				return e, "change.bad_map"
			}
			m[strings.TrimSpace(key)] = strings.TrimSpace(value)
		}
		return config.MapExpression(m), ""
	}
	return config.StringExpression(text), ""
}

// readSecret returns the expression of a secret that is written into a file of its own.
func (r *formReader) readSecret(s console.Setting, text string) (e config.Expression, problem string) {
	content, typed := []byte(text), text != ""
	if !typed {
		content, typed = r.earlier[s.Name]
	}
	switch {
	case !typed:
		return e, "change.no_secret"
	case len(content) > maxSecret:
		return e, "change.long_secret"
	}
	path := filepath.Join(r.set.SecretsDir(), fmt.Sprintf("%s.%s-%s", r.ref, s.Name, secret.RandomString(8, secret.Alphanumeric)))
	r.secrets[path] = content
	return config.SecretFileExpression(r.set.FilePath(path)), ""
}

// earlierSecrets returns the secrets of a change by the names of their settings.
func earlierSecrets(c change) map[string][]byte {
	out := map[string][]byte{}
	for path, text := range c.proposal.Secrets {
		name := strings.TrimPrefix(filepath.Base(path), c.proposal.Instance()+".")
		if i := strings.LastIndexByte(name, '-'); i > 0 {
			out[name[:i]] = text
		}
	}
	return out
}

// textLines returns the lines of a text that are not empty.
func textLines(text string) []string {
	out := []string{}
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" {
			out = append(out, line)
		}
	}
	return out
}

// newCurrent returns a written setting as a form has it.
func newCurrent(w config.Written) console.Current {
	if w.Expression != "" {
		return console.Current{Expression: w.Expression}
	}
	switch value := w.Value.(type) {
	case []string:
		return console.Current{Text: strings.Join(value, "\n")}
	case map[string]string:
		lines := lists.ConvertAll(slices.Sorted(maps.Keys(value)), func(key string) string { return key + " = " + value[key] })
		return console.Current{Text: strings.Join(lines, "\n")}
	}
	return console.Current{Text: fmt.Sprint(w.Value)}
}

// notEditable returns why a configuration cannot be edited, as a fault.
func notEditable(err error) error {
	if errors.Is(err, config.ErrNotEditable) {
		return fault.Wrap(err, fault.Conflict, "plugin.hcl cannot be edited here: %v", err)
	}
	return err
}

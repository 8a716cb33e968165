package webops

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/patchbay-dev/patchbay/sdk/jsonedit"
)

// Params are the members of a request.
type Params map[string]json.RawMessage

// ParseParams reads a body. The error is for whoever wrote it.
func ParseParams(body []byte) (Params, error) {
	members, err := jsonedit.Members(body)
	switch {
	case errors.Is(err, jsonedit.ErrNotObject):
		return nil, errors.New("body is not a JSON object")
	case err != nil:
		return nil, fmt.Errorf("body: %w", err)
	}
	p := Params{}
	for _, m := range members {
		if raw := m.Value(body); string(raw) != "null" {
			p[m.Key] = raw
		}
	}
	return p, nil
}

// Read decodes the member into v, which keeps its value if the member is absent.
func (p Params) Read(name string, v any, want string) error {
	raw, ok := p[name]
	if !ok {
		return nil
	}
	if err := json.Unmarshal(raw, v); err != nil {
		return fmt.Errorf("%s must be %s", name, want)
	}
	return nil
}

// Integer reads a whole number within bounds.
func (p Params) Integer(name string, v *int, low, high int) error {
	want := fmt.Sprintf("an integer from %d to %d", low, high)
	if err := p.Read(name, v, want); err != nil {
		return err
	}
	if *v < low || *v > high {
		return fmt.Errorf("%s must be %s", name, want)
	}
	return nil
}

// Strings reads a string or an array of them.
func (p Params) Strings(name string) ([]string, error) {
	raw, ok := p[name]
	if !ok {
		return nil, nil
	}
	var one string
	if json.Unmarshal(raw, &one) == nil {
		return []string{one}, nil
	}
	var many []*string
	err := json.Unmarshal(raw, &many)
	out := make([]string, 0, len(many))
	for _, s := range many {
		if s == nil {
			err = errors.New("null")
			continue
		}
		out = append(out, *s)
	}
	if err != nil {
		return nil, fmt.Errorf("%s must be a string or an array of strings", name)
	}
	return out, nil
}

// Required reads a string that must hold something.
func (p Params) Required(name string) (string, error) {
	var s string
	if err := p.Read(name, &s, "a string"); err != nil {
		return "", err
	}
	if strings.TrimSpace(s) == "" {
		return "", fmt.Errorf("%s is required", name)
	}
	return s, nil
}

// Choice reads a member that is a bool or one of a few words; it returns the word, "true" or "false".
func (p Params) Choice(name, fallback string, words ...string) (string, error) {
	raw, ok := p[name]
	if !ok {
		return fallback, nil
	}
	s := string(raw)
	var text string
	if json.Unmarshal(raw, &text) == nil {
		s = text
	}
	for _, w := range words {
		if s == w {
			return s, nil
		}
	}
	return "", fmt.Errorf("%s must be one of %s", name, strings.Join(words, ", "))
}

// Seconds reads a number of seconds within bounds; fallback if it is absent.
func (p Params) Seconds(name string, fallback time.Duration, low, high float64) (time.Duration, error) {
	if _, ok := p[name]; !ok {
		return fallback, nil
	}
	want := fmt.Sprintf("a number from %g to %g", low, high)
	var n float64
	if err := p.Read(name, &n, want); err != nil {
		return 0, err
	}
	if n < low || n > high {
		return 0, fmt.Errorf("%s must be %s", name, want)
	}
	return time.Duration(n * float64(time.Second)), nil
}

const (
	maxPatterns = 50
	maxPattern  = 1000
)

// Patterns reads regular expressions.
func (p Params) Patterns(name string) ([]*regexp.Regexp, error) {
	texts, err := p.Strings(name)
	if err != nil {
		return nil, err
	}
	if len(texts) > maxPatterns {
		return nil, fmt.Errorf("%s may hold at most %d patterns", name, maxPatterns)
	}
	var out []*regexp.Regexp
	for _, t := range texts {
		if len(t) > maxPattern {
			return nil, fmt.Errorf("%s: a pattern may have at most %d bytes", name, maxPattern)
		}
		re, err := regexp.Compile(t)
		if err != nil {
			return nil, fmt.Errorf("%s: %q is no regular expression of the syntax RE2", name, t)
		}
		out = append(out, re)
	}
	return out, nil
}

// Usage reads include_usage; nil if it is not asked for.
func (p Params) Usage() (*Usage, error) {
	var asked bool
	if err := p.Read("include_usage", &asked, "true or false"); err != nil || !asked {
		return nil, err
	}
	return &Usage{}, nil
}

// All runs the steps of reading a body until one fails.
func All(steps ...func() error) error {
	for _, step := range steps {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

package local

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/patchbay-dev/patchbay/sdk/jsonedit"
)

// params are the members of a request.
type params map[string]json.RawMessage

func parseParams(body []byte) (params, error) {
	members, err := jsonedit.Members(body)
	switch {
	case errors.Is(err, jsonedit.ErrNotObject):
		return nil, errors.New("body is not a JSON object")
	case err != nil:
		return nil, fmt.Errorf("body: %w", err)
	}
	p := params{}
	for _, m := range members {
		if raw := m.Value(body); string(raw) != "null" {
			p[m.Key] = raw
		}
	}
	return p, nil
}

// read decodes the member into v, which keeps its value if the member is absent.
func (p params) read(name string, v any, want string) error {
	raw, ok := p[name]
	if !ok {
		return nil
	}
	if err := json.Unmarshal(raw, v); err != nil {
		return fmt.Errorf("%s must be %s", name, want)
	}
	return nil
}

// integer reads a whole number within bounds.
func (p params) integer(name string, v *int, low, high int) error {
	want := fmt.Sprintf("an integer from %d to %d", low, high)
	if err := p.read(name, v, want); err != nil {
		return err
	}
	if *v < low || *v > high {
		return fmt.Errorf("%s must be %s", name, want)
	}
	return nil
}

// strings reads a string or an array of them.
func (p params) strings(name string) ([]string, error) {
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

// required reads a string that must hold something.
func (p params) required(name string) (string, error) {
	var s string
	if err := p.read(name, &s, "a string"); err != nil {
		return "", err
	}
	if strings.TrimSpace(s) == "" {
		return "", fmt.Errorf("%s is required", name)
	}
	return s, nil
}

// choice reads a member that is a bool or one of a few words; it returns the word, "true" or "false".
func (p params) choice(name, fallback string, words ...string) (string, error) {
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

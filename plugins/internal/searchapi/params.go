package searchapi

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/patchbay-dev/patchbay/sdk/jsonedit"
)

const (
	// maxIgnored bounds the names that an answer lists, maxName each of them, in bytes.
	maxIgnored = 32
	maxName    = 64
)

// Params are the members of a request, each of which means something. Members that are null count as absent.
type Params struct {
	values map[string]json.RawMessage
	// Ignored are the names of members that ask for what the backend does not do, in their order.
	Ignored []string
}

// ReadParams reads and checks the body of an operation for a backend. The error is for whoever wrote it.
func ReadParams(b Backend, operation string, body []byte) (*Params, error) {
	members, err := jsonedit.Members(body)
	switch {
	case errors.Is(err, jsonedit.ErrNotObject):
		return nil, errors.New("body is not a JSON object")
	case err != nil:
		return nil, fmt.Errorf("body: %w", err)
	}
	p := &Params{values: map[string]json.RawMessage{}}
	for _, m := range members {
		if err := p.addMember(b, operation, m.Key, m.Value(body)); err != nil {
			return nil, err
		}
	}
	for _, known := range Parameters(operation) {
		if known.Required && p.isBlank(known.Name) {
			return nil, fmt.Errorf("%s is required", known.Name)
		}
	}
	return p, nil
}

// addMember takes one member in by what the table says of it. A name that is not in the table is ignored.
func (p *Params) addMember(b Backend, operation, name string, raw json.RawMessage) error {
	if string(raw) == "null" {
		delete(p.values, name)
		return nil
	}
	known := findParameter(operation, name)
	if known == nil {
		p.Ignore(name)
		return nil
	}
	if err := known.Value.Check(name, raw); err != nil {
		return err
	}
	p.values[name] = raw
	if slices.Contains(known.Neutral, readWord(raw)) {
		return nil
	}
	effect := known.Effect(b)
	switch {
	case effect == Ignored, b == SearXNG && known.isUnserved(raw):
		p.Ignore(name)
	case effect == Refused:
		return fmt.Errorf("%s is not offered by this backend", describeAsked(known, raw))
	}
	return nil
}

// describeAsked names what was asked for: the parameter, and its value where others are honoured.
func describeAsked(known *Parameter, raw json.RawMessage) string {
	if s, ok := decodeText(raw); ok && len(known.Value.Words()) > 0 {
		return known.Name + " " + s
	}
	return known.Name
}

// Ignore notes that a member is ignored.
func (p *Params) Ignore(name string) {
	if len(name) > maxName {
		name = strings.ToValidUTF8(name[:maxName], "")
	}
	if len(p.Ignored) < maxIgnored && !slices.Contains(p.Ignored, name) {
		p.Ignored = append(p.Ignored, name)
	}
}

// isBlank reports whether a member is absent, or holds nothing.
func (p *Params) isBlank(name string) bool {
	all := p.Texts(name)
	return len(all) == 0 || len(all) == 1 && strings.TrimSpace(all[0]) == ""
}

// readWord returns a string as it reads, and any other value as it is written.
func readWord(raw json.RawMessage) string {
	if s, ok := decodeText(raw); ok {
		return s
	}
	return string(raw)
}

// Has reports whether there is a member.
func (p *Params) Has(name string) bool { return len(p.values[name]) > 0 }

// Text returns a string, or the empty one.
func (p *Params) Text(name string) string { return p.Word(name, "") }

// Word returns one of the words that a parameter may have, or what takes its place if it is absent. Flags are true or false.
func (p *Params) Word(name, fallback string) string {
	if !p.Has(name) {
		return fallback
	}
	return readWord(p.values[name])
}

// Flag returns true or false, and fallback for a member that is absent.
func (p *Params) Flag(name string, fallback bool) bool {
	if !p.Has(name) {
		return fallback
	}
	return string(p.values[name]) == "true"
}

// Integer returns a whole number, or what takes its place if it is absent.
func (p *Params) Integer(name string, fallback int) int {
	if n, ok := jsonedit.ParseInteger(p.values[name]); ok {
		return int(n)
	}
	return fallback
}

// Texts returns a string or several, or nil.
func (p *Params) Texts(name string) []string {
	if !p.Has(name) {
		return nil
	}
	all, _ := decodeTexts(p.values[name])
	return all
}

// Seconds returns a duration, or what takes its place if it is absent.
func (p *Params) Seconds(name string, fallback time.Duration) time.Duration {
	var n float64
	if !p.Has(name) || json.Unmarshal(p.values[name], &n) != nil {
		return fallback
	}
	return time.Duration(n * float64(time.Second))
}

// Date returns the beginning of a day in UTC, or the zero time.
func (p *Params) Date(name string) time.Time {
	t, err := time.Parse(dateLayout, p.Text(name))
	if err != nil {
		return time.Time{}
	}
	return t
}

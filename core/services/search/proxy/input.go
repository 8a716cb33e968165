package proxy

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/services/search/access"
	"github.com/patchbay-dev/patchbay/sdk/jsonedit"
	sdk "github.com/patchbay-dev/patchbay/sdk/search"
)

// MaxResults is the largest max_results that a search may ask for.
const MaxResults = 20

// clientMembers are the names, in lower case, under which clients put their token, and the address that they believe to
// be the API's, into a body. They never go upstream.
var clientMembers = [][]byte{[]byte("api_key"), []byte("apikey"), []byte("tavilyapikey"), []byte("apibaseurl")}

func isClientMember(key []byte) bool {
	for _, name := range clientMembers {
		if len(key) == len(name) && bytes.EqualFold(key, name) {
			return true
		}
	}
	return false
}

// Input is a client's parsed body: without its token, with the members that the price needs.
type Input struct {
	body   []byte
	fields fields
	Stream bool
	// Token is the text of the member api_key, if there was one.
	Token string
}

// ParseInput parses a body that the caller owns; the result shares its memory. want holds the members to keep. Errors
// are faults of the client.
func ParseInput(raw []byte, want map[string]bool) (Input, error) {
	in := Input{fields: make(fields, len(want))}
	found := false
	err := jsonedit.Walk(raw, func(key []byte, m jsonedit.Member) {
		value := raw[m.ValueStart:m.ValueEnd]
		switch {
		case isClientMember(key):
			found = true
			if string(key) == "api_key" {
				in.Token = StringValue(value)
			}
		case want[string(key)]:
			in.fields[string(key)] = value
		}
	})
	if err != nil {
		return in, badJSON(err)
	}
	in.Stream = string(in.fields["stream"]) == "true"
	in.body = raw
	if found {
		// The values that fields points to move: copies are taken first.
		for k, v := range in.fields {
			in.fields[k] = bytes.Clone(v)
		}
		in.body, err = jsonedit.RemoveInPlace(raw, func(key []byte, _ jsonedit.Member) bool { return isClientMember(key) })
	}
	return in, err
}

// StringValue returns the string that a JSON value holds, or "".
func StringValue(raw []byte) string {
	var s string
	if json.Unmarshal(raw, &s) != nil {
		return ""
	}
	return s
}

// badJSON returns the fault for a body that could not be parsed.
func badJSON(err error) error {
	var syntax *jsonedit.SyntaxError
	switch {
	case errors.Is(err, jsonedit.ErrNotObject):
		return fault.New(fault.InvalidRequest, "The body must be a JSON object.")
	case errors.Is(err, jsonedit.ErrDepth):
		return fault.New(fault.InvalidRequest, "The body is nested deeper than %d levels.", jsonedit.MaxDepth)
	case errors.As(err, &syntax):
		return fault.New(fault.InvalidRequest, "The body is not valid JSON (at byte %d).", syntax.Offset)
	}
	return fault.New(fault.InvalidRequest, "The body is not valid JSON.")
}

// Validate returns an error for a body that is plainly wrong, before anything is spent on it.
func (in *Input) Validate(op sdk.Operation, tokens ...string) error {
	if raw, ok := in.fields["max_results"]; ok && string(raw) != "null" {
		n, ok := jsonedit.ParseInteger(raw)
		if !ok || n < 0 || n > MaxResults {
			return fault.InvalidField("max_results", "max_results must be an integer from 0 to %d.", MaxResults)
		}
	}
	if raw, ok := in.fields["stream"]; ok {
		switch s := string(raw); {
		case s != "true" && s != "false" && s != "null":
			return fault.InvalidField("stream", "stream must be true or false.")
		case s == "true" && !op.Stream:
			return fault.InvalidField("stream", "The operation %s cannot be streamed.", op.Name)
		}
	}
	for _, name := range op.Required {
		if err := in.requireMember(name); err != nil {
			return err
		}
	}
	for _, token := range tokens {
		if access.WellFormed(token) && jsonedit.ContainsString(in.body, token) {
			return fault.New(fault.InvalidRequest, "Send the access token only in the field api_key.")
		}
	}
	return nil
}

// requireMember returns an error unless the member is a string that is not blank or, for urls, a list that is not
// empty.
func (in *Input) requireMember(name string) error {
	raw, ok := in.fields[name]
	switch {
	case !ok || string(raw) == "null":
		return fault.InvalidField(name, "The field %s is missing.", name)
	case raw[0] == '"':
		if isBlank(raw) {
			return fault.InvalidField(name, "The field %s is empty.", name)
		}
	case raw[0] == '[' && name == "urls":
		if len(bytes.TrimSpace(raw[1:len(raw)-1])) == 0 {
			return fault.InvalidField(name, "The field %s is empty.", name)
		}
	default:
		return fault.InvalidField(name, "The field %s has the wrong type.", name)
	}
	return nil
}

// isBlank reports whether a JSON string holds only white space, literal or escaped.
func isBlank(raw []byte) bool {
	inner := raw[1 : len(raw)-1]
	if bytes.IndexByte(inner, '\\') < 0 {
		return len(bytes.TrimSpace(inner)) == 0
	}
	return strings.TrimSpace(StringValue(raw)) == ""
}

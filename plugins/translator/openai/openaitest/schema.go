package openaitest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// request is a chat completion request with the members of the published schema that this server knows.
type request struct {
	Model               string          `json:"model"`
	Messages            []Message       `json:"messages"`
	Temperature         *float64        `json:"temperature"`
	MaxTokens           *int64          `json:"max_tokens"`
	MaxCompletionTokens *int64          `json:"max_completion_tokens"`
	Stream              bool            `json:"stream"`
	ResponseFormat      *responseFormat `json:"response_format"`
}

type responseFormat struct {
	Type       string `json:"type"`
	JSONSchema *struct {
		Name   string         `json:"name"`
		Strict bool           `json:"strict"`
		Schema map[string]any `json:"schema"`
	} `json:"json_schema"`
}

// read is a request, and the chat that it asks for.
type read struct {
	request
	Chat
	Model string
}

// readChat reads a request and returns what is wrong with it, "" for nothing.
func (s *Server) readChat(raw []byte) (out read, problem string) {
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&out.request); err != nil {
		return out, err.Error()
	}
	in := out.request
	switch {
	case in.Model == "" || len(in.Messages) == 0:
		return out, "model and messages are required"
	case in.Temperature != nil && (*in.Temperature < 0 || *in.Temperature > 2):
		return out, "temperature must be 0 to 2"
	case in.MaxTokens != nil && in.MaxCompletionTokens != nil:
		return out, "max_tokens and max_completion_tokens exclude each other"
	case in.Stream:
		return out, "nothing here reads a stream"
	}
	out.Model = in.Model
	out.Chat = Chat{Model: in.Model, Messages: in.Messages}
	if f := in.ResponseFormat; f != nil {
		out.Format = f.Type
		if problem := f.checkFormat(); problem != "" {
			return out, problem
		}
	}
	for _, m := range in.Messages {
		if !slices.Contains([]string{"system", "user", "assistant"}, m.Role) || m.Content == "" {
			return out, fmt.Sprintf("a message has the role %q and %d bytes", m.Role, len(m.Content))
		}
		var asked struct {
			Target string `json:"target_language"`
			Parts  []Part `json:"parts"`
		}
		if m.Role == "user" && json.Unmarshal([]byte(m.Content), &asked) == nil && asked.Target != "" {
			out.Target, out.Parts = asked.Target, asked.Parts
		}
		out.Summary = out.Summary || m.Role == "system" && strings.Contains(m.Content, `"valuable"`)
	}
	return out, ""
}

// checkFormat returns what is wrong with a response format.
func (f *responseFormat) checkFormat() string {
	switch f.Type {
	case "json_object":
		return ""
	case "json_schema":
		if f.JSONSchema == nil || f.JSONSchema.Name == "" || len(f.JSONSchema.Name) > 64 || strings.ContainsAny(f.JSONSchema.Name, " .") {
			return "json_schema needs a name of a-z, A-Z, 0-9, _ and -"
		}
		if f.JSONSchema.Strict {
			return checkStrict(f.JSONSchema.Schema)
		}
		return ""
	}
	return "response_format has the type " + f.Type
}

// checkStrict checks what structured outputs want of a schema: objects without further members, all of which are required.
func checkStrict(schema map[string]any) string {
	if items, ok := schema["items"].(map[string]any); ok {
		if problem := checkStrict(items); problem != "" {
			return problem
		}
	}
	properties, ok := schema["properties"].(map[string]any)
	if !ok {
		return ""
	}
	required, _ := schema["required"].([]any)
	if schema["additionalProperties"] != false || len(required) != len(properties) {
		return "a strict schema requires all properties and permits no others"
	}
	for name, p := range properties {
		if !slices.Contains(required, any(name)) {
			return "the property " + name + " is not required"
		}
		if problem := checkStrict(p.(map[string]any)); problem != "" {
			return problem
		}
	}
	return ""
}

// rejectedMember returns the member of a request that the server is told to refuse, or "".
func (s *Server) rejectedMember(in read) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	has := map[string]bool{
		"max_tokens": in.MaxTokens != nil, "temperature": in.Temperature != nil,
		"response_format": in.ResponseFormat != nil, "json_schema": in.Format == "json_schema",
	}
	for _, name := range s.rejects {
		if has[name] {
			return name
		}
	}
	return ""
}

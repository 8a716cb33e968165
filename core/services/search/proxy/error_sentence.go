package proxy

import (
	"encoding/json"
	"mime"
	"strings"
	"unicode/utf8"

	"github.com/patchbay-dev/patchbay/core/secret"
	"github.com/patchbay-dev/patchbay/core/services/search/audit"
	"github.com/patchbay-dev/patchbay/core/texts"
)

// errorSentence returns what an answer says of its error, as one short line; "" for an answer that says nothing in words. The
// body is without the upstream key already. What the answer repeats of the request is replaced: without log_bodies nothing of
// it is stored.
func errorSentence(contentType string, body, request []byte) string {
	if len(body) > maxErrorBody {
		return ""
	}
	text := ""
	switch kind, _, _ := mime.ParseMediaType(contentType); {
	case strings.HasSuffix(kind, "json"):
		var v any
		if json.Unmarshal(body, &v) == nil {
			text = findMessage(v)
		}
	case kind == "text/plain" && utf8.Valid(body):
		text, _, _ = strings.Cut(strings.TrimSpace(string(body)), "\n")
	}
	return texts.OneLine(withoutEcho(texts.OneLine(text, maxErrorBody), request), audit.MaxDetail)
}

// findMessage returns the message in the JSON of an error, by the names that services use for it.
func findMessage(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case []any:
		if len(v) > 0 {
			return findMessage(v[0])
		}
	case map[string]any:
		for _, name := range []string{"detail", "error", "message", "msg", "title"} {
			if text := findMessage(v[name]); text != "" {
				return text
			}
		}
	}
	return ""
}

// withoutEcho returns text with the strings of a request's body replaced.
func withoutEcho(text string, request []byte) string {
	var v any
	if json.Unmarshal(request, &v) != nil {
		return text
	}
	var replace func(any)
	replace = func(v any) {
		switch v := v.(type) {
		case string:
			if v = texts.OneLine(v, maxErrorBody); len(v) >= minEcho {
				text = strings.ReplaceAll(text, v, secret.Redacted)
			}
		case []any:
			for _, item := range v {
				replace(item)
			}
		case map[string]any:
			for _, item := range v {
				replace(item)
			}
		}
	}
	replace(v)
	return text
}

// minEcho is the length from which on a text of the request is removed from an upstream's error, in bytes.
const minEcho = 4

// maxErrorBody bounds the answers in which an error is looked for, in bytes.
const maxErrorBody = 64 << 10

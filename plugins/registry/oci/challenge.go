package oci

import "strings"

// Schemes of a challenge, in lower case.
const (
	schemeBasic  = "basic"
	schemeBearer = "bearer"
)

// challenge is how a registry wants to be asked.
type challenge struct {
	scheme         string
	realm, service string
}

// parseChallenge reads the values of WWW-Authenticate and chooses: bearer before basic. It is nil without either.
func parseChallenge(values []string) *challenge {
	var found *challenge
	for _, v := range values {
		scheme, rest, _ := strings.Cut(strings.TrimSpace(v), " ")
		switch scheme = strings.ToLower(scheme); {
		case scheme == schemeBearer:
			params := parseParameters(rest)
			if params["realm"] != "" {
				return &challenge{scheme: scheme, realm: params["realm"], service: params["service"]}
			}
		case scheme == schemeBasic && found == nil:
			found = &challenge{scheme: scheme}
		}
	}
	return found
}

// parseParameters reads name=value and name="value", separated by commas. Names are in lower case.
func parseParameters(text string) map[string]string {
	out := map[string]string{}
	for text != "" {
		name, rest, ok := strings.Cut(text, "=")
		if !ok {
			break
		}
		value, after := parseParameter(rest)
		out[strings.ToLower(strings.Trim(name, " \t,"))] = value
		text = after
	}
	return out
}

// parseParameter reads one value and returns what follows it.
func parseParameter(text string) (value, rest string) {
	text = strings.TrimLeft(text, " \t")
	if !strings.HasPrefix(text, `"`) {
		value, rest, _ = strings.Cut(text, ",")
		return strings.TrimSpace(value), rest
	}
	var b strings.Builder
	for i := 1; i < len(text); i++ {
		switch c := text[i]; {
		case c == '\\' && i+1 < len(text):
			i++
			b.WriteByte(text[i])
		case c == '"':
			_, rest, _ = strings.Cut(text[i:], ",")
			return b.String(), rest
		default:
			b.WriteByte(c)
		}
	}
	return b.String(), ""
}

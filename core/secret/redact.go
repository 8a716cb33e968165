package secret

import (
	"encoding/json"
	"io"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// Redacted stands where a secret was.
const Redacted = "[redacted]"

// minSecret is the shortest value, in bytes, that is searched for: shorter ones occur by chance.
const minSecret = 8

// Redactor takes secrets out of text before it is logged or stored: known values wherever they stand, the values of
// JSON members and query parameters with certain names, bearer tokens, and passwords in URLs. It may be used by several
// goroutines.
type Redactor struct {
	members *regexp.Regexp
	nested  *regexp.Regexp
	params  *regexp.Regexp
	bearer  *regexp.Regexp
	user    *regexp.Regexp
	names   map[string]struct{}

	mu       sync.RWMutex
	values   map[string]struct{}
	replacer *strings.Replacer
}

// NewRedactor makes a redactor for member and parameter names, whose case does not matter. Without names the
// rest is redacted all the same.
func NewRedactor(names ...string) *Redactor {
	r := &Redactor{
		bearer: regexp.MustCompile(`(?i)\b(bearer|basic) +[A-Za-z0-9._~+/=-]{6,}`),
		user:   regexp.MustCompile(`(://[^/:@?#\s]*):[^/@?#\s]*@`),
		names:  map[string]struct{}{},
		values: map[string]struct{}{},
	}
	quoted := make([]string, len(names))
	for i, n := range names {
		quoted[i] = regexp.QuoteMeta(n)
		r.names[strings.ToLower(n)] = struct{}{}
	}
	if len(names) > 0 {
		list := strings.Join(quoted, "|")
		r.members = regexp.MustCompile(`("(?i:` + list + `)"\s*:\s*)("(?:[^"\\]|\\.)*(?:"|\\?$)|[^\s",}\]]+)`)
		r.nested = regexp.MustCompile(`(\\+"(?i:` + list + `)\\+"\s*:\s*\\+")[^"\\]*`)
		r.params = regexp.MustCompile(`([?&;](?i:` + list + `)=)[^&;#\s"'<>]*`)
	}
	return r
}

// Add makes values known, with the passwords of those that are URLs. Values shorter than 8 bytes are ignored.
func (r *Redactor) Add(values ...string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, v := range values {
		r.addValue(v)
		if _, rest, ok := strings.Cut(v, "://"); ok && strings.Contains(rest, "@") {
			if u, err := url.Parse(v); err == nil {
				password, _ := u.User.Password()
				r.addValue(password)
			}
		}
	}
}

// addValue adds a value unless it is too short. The caller holds the lock.
func (r *Redactor) addValue(value string) {
	if _, known := r.values[value]; known || len(value) < minSecret {
		return
	}
	r.values[value] = struct{}{}
	r.replacer = nil
}

// Values returns s without the known values and without access tokens and API keys of this product, known or not. It is
// what String begins with, and costs a fraction of it.
func (r *Redactor) Values(s string) string {
	s = r.knownReplacer().Replace(s)
	if strings.Contains(s, tokenMark) || strings.Contains(s, keyMark) {
		s = ownCredentials.ReplaceAllString(s, Redacted)
	}
	return s
}

// Writer returns a writer that passes on to w what Values leaves of each call of Write, such as one line of a log.
func (r *Redactor) Writer(w io.Writer) io.Writer { return valuesWriter{r, w} }

type valuesWriter struct {
	redactor *Redactor
	to       io.Writer
}

// Write implements io.Writer.
func (w valuesWriter) Write(p []byte) (int, error) {
	if _, err := io.WriteString(w.to, w.redactor.Values(string(p))); err != nil {
		return 0, err
	}
	return len(p), nil
}

// String returns s without secrets.
func (r *Redactor) String(s string) string {
	s = r.Values(s)
	s = r.bearer.ReplaceAllString(s, "${1} "+Redacted)
	s = r.user.ReplaceAllString(s, "${1}:"+Redacted+"@")
	if r.members == nil {
		return s
	}
	s = r.members.ReplaceAllString(s, `${1}"`+Redacted+`"`)
	s = r.nested.ReplaceAllString(s, "${1}"+Redacted)
	return r.params.ReplaceAllString(s, "${1}"+Redacted)
}

// Bytes is String for bytes; it returns a new slice.
func (r *Redactor) Bytes(b []byte) []byte { return []byte(r.String(string(b))) }

// URL redacts a URL or request target as String does, and also parameters whose names are written with escapes.
func (r *Redactor) URL(raw string) string {
	head, query, found := strings.Cut(raw, "?")
	if !found {
		return r.String(head)
	}
	query, fragment, hash := strings.Cut(query, "#")
	parts := strings.Split(query, "&")
	for i, part := range parts {
		parts[i] = r.redactParameter(part)
	}
	out := head + "?" + strings.Join(parts, "&")
	if hash {
		out += "#" + fragment
	}
	return r.String(out)
}

// redactParameter returns a parameter of a query, without its value if the name is that of a secret.
func (r *Redactor) redactParameter(part string) string {
	name, _, found := strings.Cut(part, "=")
	plain, err := url.QueryUnescape(name)
	if err != nil {
		plain = name
	}
	if _, secret := r.names[strings.ToLower(plain)]; secret && found {
		return name + "=" + Redacted
	}
	return part
}

// knownReplacer returns the replacer of the known values in all their spellings. It is built once after a change.
func (r *Redactor) knownReplacer() *strings.Replacer {
	r.mu.RLock()
	built := r.replacer
	r.mu.RUnlock()
	if built != nil {
		return built
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.replacer == nil {
		r.replacer = r.buildReplacer()
	}
	return r.replacer
}

// buildReplacer makes the replacer. The caller holds the lock.
func (r *Redactor) buildReplacer() *strings.Replacer {
	var all []string
	for v := range r.values {
		all = append(all, listSpellings(v)...)
	}
	slices.SortFunc(all, func(a, b string) int { return len(b) - len(a) }) // the longest match wins
	pairs := make([]string, 0, 2*len(all))
	for _, v := range all {
		pairs = append(pairs, v, Redacted)
	}
	return strings.NewReplacer(pairs...)
}

// escape matches an escaped byte of a URL.
var escape = regexp.MustCompile(`%[0-9A-F]{2}`)

// listSpellings returns the forms that a value may have in a text: escaped for JSON, Go or a URL.
func listSpellings(v string) []string {
	quoted := strconv.Quote(v)
	quoted = quoted[1 : len(quoted)-1]
	all := []string{v, jsonEscape(v), quoted, strings.ReplaceAll(v, `"`, `\"`)}
	query := url.QueryEscape(v)
	for _, escaped := range []string{query, strings.ReplaceAll(query, "+", "%20"), url.PathEscape(v)} {
		all = append(all, escaped, escape.ReplaceAllStringFunc(escaped, strings.ToLower))
	}
	slices.Sort(all)
	return slices.Compact(all)
}

func jsonEscape(v string) string {
	b, err := json.Marshal(v)
	if err != nil || len(b) < 2 {
		return v
	}
	return string(b[1 : len(b)-1])
}

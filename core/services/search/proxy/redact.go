package proxy

import (
	"bytes"
	"io"
	"strings"

	"github.com/patchbay-dev/patchbay/core/plugin/client"
	"github.com/patchbay-dev/patchbay/core/secret"
	"github.com/patchbay-dev/patchbay/sdk/schema"
	sdk "github.com/patchbay-dev/patchbay/sdk/search"
)

// An upstream may echo the key that it was shown, in an error most of all. No client may see it, in no spelling that a JSON
// or URL decoder turns back into the key.

// withoutKey returns body with the upstream key of the call replaced; body itself if the key is not in it.
func (a *attempt) withoutKey(body []byte) []byte {
	key := a.key.Reveal()
	if key == "" {
		return body
	}
	out, rest := cutKey(body, key)
	if len(out) == 0 {
		return body
	}
	return append(out, rest...)
}

// headWithoutKey clears the texts of a head that hold the upstream key.
func (a *attempt) headWithoutKey(h sdk.Head) sdk.Head {
	key := a.key.Reveal()
	if key == "" {
		return h
	}
	for _, text := range []*string{&h.ContentType, &h.RetryAfter, &h.ResourceID} {
		if strings.Contains(*text, key) {
			*text = ""
		}
	}
	return h
}

// keyRedactor is a stream that removes a key, also where the key is split between two chunks: the end of a chunk that
// may be the beginning of the key is held until the next chunk.
type keyRedactor struct {
	client.SearchStream
	key  string
	held []byte
}

func withoutKey(st client.SearchStream, key schema.Secret) client.SearchStream {
	if key == "" {
		return st
	}
	return &keyRedactor{SearchStream: st, key: key.Reveal()}
}

// Next implements client.SearchStream.
func (k *keyRedactor) Next() ([]byte, error) {
	for {
		p, err := k.SearchStream.Next()
		if err == io.EOF && len(k.held) > 0 {
			p, k.held = k.held, nil
			return p, nil
		}
		if err != nil {
			return nil, err
		}
		if len(k.held) > 0 {
			p = append(k.held, p...)
			k.held = nil
		}
		out, rest := cutKey(p, k.key)
		if n := keyBegins(rest, k.key); n >= 0 {
			k.held = bytes.Clone(rest[n:])
			rest = rest[:n]
		}
		if p = append(out, rest...); len(p) > 0 {
			return p, nil
		}
	}
}

// cutKey returns p up to the end of the last occurrence of key, with each occurrence replaced, and what follows it. The
// first is empty if there is none.
func cutKey(p []byte, key string) (out, rest []byte) {
	if !bytes.Contains(p, []byte(key)) && !hasEscapes(p, key) {
		return nil, p
	}
	for i := nextKeyByte(p, 0, key); i >= 0; {
		n, whole := matchKey(p[i:], key)
		if !whole {
			i = nextKeyByte(p, i+1, key)
			continue
		}
		out = append(append(out, p[:i]...), secret.Redacted...)
		p = p[i+n:]
		i = nextKeyByte(p, 0, key)
	}
	return out, p
}

// keyBegins returns where the end of p may be the beginning of key, or -1.
func keyBegins(p []byte, key string) int {
	for i := nextKeyByte(p, max(0, len(p)-maxSpelled*len(key)), key); i >= 0; i = nextKeyByte(p, i+1, key) {
		if n, whole := matchKey(p[i:], key); !whole && n == len(p)-i {
			return i
		}
	}
	return -1
}

// hasEscapes reports whether a byte of key may stand in p as an escape. The escapes of most texts, such as those of line ends,
// are none.
func hasEscapes(p []byte, key string) bool {
	if bytes.IndexByte(p, '%') >= 0 {
		return true
	}
	return bytes.IndexByte(p, '\\') >= 0 && (bytes.Contains(p, []byte(`\u00`)) || strings.ContainsAny(key, `"/\`))
}

// nextKeyByte returns where, from from on, something stands with which a spelling of key may begin, or -1.
func nextKeyByte(p []byte, from int, key string) int {
	for i := from; i < len(p); i++ {
		if c := p[i]; c == key[0] || c == '\\' || c == '%' {
			return i
		}
	}
	return -1
}

// maxSpelled is the length of the longest spelling of a byte: \u002d.
const maxSpelled = 6

// matchKey returns how much of p spells key or a beginning of it, and whether it spells all of key.
func matchKey(p []byte, key string) (n int, whole bool) {
	for i := range len(key) {
		m, whole := matchByte(p[n:], key[i])
		n += m
		if !whole {
			return n, false
		}
	}
	return n, true
}

// matchByte returns how much of p spells c or, if p ends there, the beginning of a spelling, and whether it is all of one. c
// is spelled as it is, by an escape of JSON, or by one of a URL.
func matchByte(p []byte, c byte) (n int, whole bool) {
	if len(p) == 0 {
		return 0, false
	}
	switch p[0] {
	case c:
		return 1, true
	case '\\':
		if len(p) > 1 && p[1] == c && strings.IndexByte(`"/\`, c) >= 0 {
			return 2, true
		}
		return matchEscape(p, `\u00`, c)
	case '%':
		return matchEscape(p, `%`, c)
	}
	return 0, false
}

// matchEscape is matchByte for an escape: lead and the two hexadecimal digits of c.
func matchEscape(p []byte, lead string, c byte) (n int, whole bool) {
	const digits = "0123456789abcdef"
	escape := append(append(make([]byte, 0, maxSpelled), lead...), digits[c>>4], digits[c&0xf])
	n = min(len(p), len(escape))
	if !bytes.EqualFold(p[:n], escape[:n]) {
		return 0, false
	}
	return n, n == len(escape)
}

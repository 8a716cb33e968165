package rfc822

import (
	"mime"
	"strconv"
	"strings"
	"unicode/utf8"
)

// maxParams is how many parameters of a field are read.
const maxParams = 200

// parseParams returns the value of a field such as Content-Type and its parameters, also where they are not written as they
// should be. Bytes outside UTF-8 are read in the charset.
func parseParams(field, charset string) (value string, params map[string]string) {
	field = toUTF8(field, charset)
	value, params, err := mime.ParseMediaType(field)
	if err != nil || strings.Contains(field, "*") {
		value, params = parseLooseParams(field, charset)
	}
	for key, v := range params {
		params[key] = decodeWords(v)
	}
	return strings.ToLower(value), params
}

// parseLooseParams takes what stands between semicolons outside quotes for a parameter.
func parseLooseParams(field, charset string) (value string, params map[string]string) {
	items := splitParams(field)
	value, _, _ = strings.Cut(items[0], "(")
	params = map[string]string{}
	// pieces are those of RFC 2231; those of extended begin with a charset.
	pieces, extended := map[string][]string{}, map[string]bool{}
	for _, item := range items[1:] {
		key, v, ok := strings.Cut(item, "=")
		key = strings.ToLower(strings.TrimSpace(key))
		if !ok || key == "" {
			continue
		}
		v = unquoteParam(strings.TrimSpace(v))
		name, number, _ := strings.Cut(key, "*")
		encoded := strings.HasSuffix(key, "*")
		n, err := strconv.Atoi(strings.TrimSuffix(number, "*"))
		switch {
		case encoded && err != nil:
			params[name] = decodeExtended(v, charset)
		case err == nil && n >= 0 && n < maxParams:
			for len(pieces[name]) <= n {
				pieces[name] = append(pieces[name], "")
			}
			if !encoded {
				v = strings.ReplaceAll(v, "%", "%25")
			}
			pieces[name][n] = v
			extended[name] = extended[name] || encoded && n == 0
		case params[key] == "":
			params[key] = v
		}
	}
	for name, all := range pieces {
		joined := strings.Join(all, "")
		if !extended[name] || strings.Count(joined, "'") < 2 {
			joined = "''" + joined
		}
		params[name] = decodeExtended(joined, charset)
	}
	return strings.TrimSpace(value), params
}

// splitParams splits a field at its semicolons. A quote counts where a value begins.
func splitParams(field string) (items []string) {
	start, quoted := 0, false
	for i := 0; i < len(field) && len(items) < maxParams; i++ {
		switch c := field[i]; {
		case quoted && c == '\\':
			i++
		case quoted && c == '"':
			quoted = false
		case !quoted && c == '"' && strings.HasSuffix(strings.TrimRight(field[start:i], " \t"), "="):
			quoted = true
		case !quoted && c == ';':
			items, start = append(items, field[start:i]), i+1
		}
	}
	return append(items, field[start:])
}

// unquoteParam returns a value without its quotes, and without what follows them. A backslash escapes nothing but a quote and itself.
func unquoteParam(v string) string {
	if !strings.HasPrefix(v, `"`) {
		return v
	}
	var out strings.Builder
	for i := 1; i < len(v) && v[i] != '"'; i++ {
		if v[i] == '\\' && i+1 < len(v) && (v[i+1] == '"' || v[i+1] == '\\') {
			i++
		}
		out.WriteByte(v[i])
	}
	return out.String()
}

// decodeExtended decodes charset'language'value of RFC 2231. Without a charset it is UTF-8, or the other charset.
func decodeExtended(v, charset string) string {
	own, rest, ok := strings.Cut(v, "'")
	if _, text, second := strings.Cut(rest, "'"); ok && second {
		v = text
		if own != "" {
			charset = own
		}
	}
	v = decodePercent(v)
	if own != "" && ok && !isUTF8(own) {
		if decoded, err := decodeCharset(own, v); err == nil {
			return decoded
		}
	}
	return toUTF8(v, charset)
}

// decodePercent returns a text with its percent escapes decoded. It leaves what is no escape as it is.
func decodePercent(v string) string {
	var out strings.Builder
	for i := 0; i < len(v); i++ {
		if v[i] == '%' && i+2 < len(v) {
			if c, err := strconv.ParseUint(v[i+1:i+3], 16, 8); err == nil {
				out.WriteByte(byte(c))
				i += 2
				continue
			}
		}
		out.WriteByte(v[i])
	}
	return out.String()
}

// toUTF8 returns a text of which bytes outside UTF-8 are read in a charset, if that is known.
func toUTF8(s, charset string) string {
	if utf8.ValidString(s) {
		return s
	}
	if charset != "" && !isUTF8(charset) {
		if decoded, err := decodeCharset(charset, s); err == nil {
			return decoded
		}
	}
	return strings.ToValidUTF8(s, "\uFFFD")
}

// isUTF8 reports whether a charset needs no decoding.
func isUTF8(charset string) bool {
	switch strings.ToLower(charset) {
	case "", "utf-8", "utf8", "us-ascii", "ascii":
		return true
	}
	return false
}

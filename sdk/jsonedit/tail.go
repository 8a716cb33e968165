package jsonedit

import "bytes"

// CutTail looks for a member of the outermost object close to its end, without reading what stands before it: body must
// be an object that somebody has written whole, such as the answer of an API. It calls use with the raw value, and, if
// use returns true, removes the member in place, comma included.
//
// done is false, and body unchanged, where it cannot be told from the end alone: no such member, or one that is nested or
// that is followed by another nested one. RemoveInPlace decides then. The rest of body is not validated.
func CutTail(body []byte, key string, use func(raw []byte) (remove bool)) (out []byte, done bool) {
	quoted := `"` + key + `"`
	at := bytes.LastIndex(body, []byte(quoted))
	if at < 1 || body[0] != '{' {
		return body, false
	}
	from := at
	for isSpace(body[from-1]) {
		from--
	}
	if c := body[from-1]; c != ',' && c != '{' {
		return body, false
	}
	s := scanner{body: body}
	i := s.readColon(at + len(quoted))
	if i < 0 {
		return body, false
	}
	start := i
	end := s.readValue(i, 2)
	if end < 0 || !s.closesObject(end) {
		return body, false
	}
	if !use(body[start:end]) {
		return body, true
	}
	if body[from-1] == ',' {
		for from--; isSpace(body[from-1]); from-- {
		}
		return append(body[:from], body[end:]...), true
	}
	if next, more := s.readComma(end); more {
		return append(body[:at], body[next:]...), true
	}
	return append(body[:from], body[end:]...), true
}

// closesObject reports whether what follows i are members up to the end of the outermost object and nothing more.
func (s *scanner) closesObject(i int) bool {
	for {
		next, more := s.readComma(i)
		if next < 0 {
			return false
		}
		if !more {
			return s.readEnd(next) == nil
		}
		if i = s.readName(next); i < 0 {
			return false
		}
		if i = s.readColon(i); i < 0 {
			return false
		}
		if i = s.readValue(i, 2); i < 0 {
			return false
		}
	}
}

package proxy

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"unicode/utf8"
)

// errAmbiguous is the error of a body that readers may understand in different ways.
var errAmbiguous = errors.New("the body is ambiguous")

// canonicalJSON returns a body with its members sorted and without spaces, so that bodies of the same meaning are
// equal. ok is false for a body that two readers might understand differently (a repeated member, text that is not
// UTF-8): an answer to one must never be taken for an answer to another.
func canonicalJSON(body []byte) (text []byte, ok bool) {
	dec := json.NewDecoder(bytes.NewReader(body))
	dec.UseNumber()
	v, err := readValue(dec)
	if err != nil || !utf8.Valid(body) {
		return nil, false
	}
	if _, err := dec.Token(); err != io.EOF {
		return nil, false
	}
	text, err = json.Marshal(v)
	// Half a surrogate pair is read as this character.
	return text, err == nil && !bytes.ContainsRune(text, utf8.RuneError)
}

func readValue(dec *json.Decoder) (any, error) {
	t, err := dec.Token()
	if err != nil {
		return nil, err
	}
	switch t {
	case json.Delim('{'):
		return readObject(dec)
	case json.Delim('['):
		list := []any{}
		for dec.More() {
			v, err := readValue(dec)
			if err != nil {
				return nil, err
			}
			list = append(list, v)
		}
		_, err := dec.Token()
		return list, err
	}
	return t, nil
}

func readObject(dec *json.Decoder) (map[string]any, error) {
	out := map[string]any{}
	for dec.More() {
		t, err := dec.Token()
		if err != nil {
			return nil, err
		}
		name, _ := t.(string)
		if _, twice := out[name]; twice {
			return nil, errAmbiguous
		}
		if out[name], err = readValue(dec); err != nil {
			return nil, err
		}
	}
	_, err := dec.Token()
	return out, err
}

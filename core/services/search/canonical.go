package search

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"unicode/utf8"
)

// errAmbiguous is the error of a body that readers may understand in different ways.
var errAmbiguous = errors.New("the body is ambiguous")

// canonical is a body in which members are sorted and spaces are gone, so that bodies that mean the same are the same. ok is
// false for one that two readers might understand differently (a member twice, text that is no UTF-8): an answer to one
// must never be taken for an answer to another.
func canonical(body []byte) (text []byte, ok bool) {
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

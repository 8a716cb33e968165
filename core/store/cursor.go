package store

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"

	"github.com/patchbay-dev/patchbay/core/fault"
)

// cursorVersion is raised when the meaning of cursors changes; older ones are then refused.
const cursorVersion = 1

// maxCursor is the longest cursor that is looked at, in bytes.
const maxCursor = 2048

// cursor is what an opaque cursor holds.
type cursor struct {
	Version int             `json:"v"`
	Key     json.RawMessage `json:"k"`
}

// EncodeCursor makes an opaque page cursor of v, the sort key of the last row of a page. It fails for values that JSON
// cannot hold.
func EncodeCursor(v any) (string, error) {
	key, err := json.Marshal(v)
	if err != nil {
		return "", fmt.Errorf("encode the page cursor: %w", err)
	}
	text, err := json.Marshal(cursor{Version: cursorVersion, Key: key})
	if err != nil {
		return "", fmt.Errorf("encode the page cursor: %w", err)
	}
	return base64.RawURLEncoding.EncodeToString(text), nil
}

// DecodeCursor reads a cursor of EncodeCursor into v, a pointer to the same type. Whatever is wrong with it is a
// fault.InvalidArgument with the extension member field = "cursor".
func DecodeCursor(s string, v any) error {
	if len(s) > maxCursor {
		return badCursor()
	}
	text, err := base64.RawURLEncoding.Strict().DecodeString(s)
	if err != nil {
		return badCursor()
	}
	var c cursor
	if strictJSON(text, &c) != nil || c.Version != cursorVersion || strictJSON(c.Key, v) != nil {
		return badCursor()
	}
	return nil
}

func badCursor() error {
	return fault.New(fault.InvalidArgument, "The cursor is not valid for this list.").With("field", "cursor")
}

func strictJSON(text []byte, v any) error {
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.DisallowUnknownFields()
	if err := dec.Decode(v); err != nil {
		return err
	}
	if _, err := dec.Token(); err != io.EOF {
		return fmt.Errorf("trailing data")
	}
	return nil
}

package schema

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// elementError is a wrong element of a list or member of a map.
type elementError struct {
	step Step
	msg  string
}

func (e *elementError) Error() string { return e.msg }

// parseValue reads JSON as string, float64, int64, bool, time.Duration, []string or map[string]string.
func parseValue(t Type, raw json.RawMessage) (any, error) {
	switch t {
	case String:
		return parseAs[string](t, raw)
	case Number:
		return parseAs[float64](t, raw)
	case Integer:
		return parseInteger(raw)
	case Bool:
		return parseAs[bool](t, raw)
	case Duration:
		return parseDuration(raw)
	case StringList:
		return parseList(raw)
	case StringMap:
		return parseMap(raw)
	}
	return nil, errors.New("has an unknown type")
}

func wantType(t Type) error { return fmt.Errorf("must be %s", t) }

func parseAs[T any](t Type, raw json.RawMessage) (any, error) {
	var v T
	if isNull(raw) || json.Unmarshal(raw, &v) != nil {
		return nil, wantType(t)
	}
	return v, nil
}

func parseInteger(raw json.RawMessage) (any, error) {
	text := string(bytes.TrimSpace(raw))
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		return n, nil
	}
	var f float64
	if json.Unmarshal(raw, &f) != nil || isNull(raw) || f != math.Trunc(f) || math.Abs(f) > 1<<53 {
		return nil, wantType(Integer)
	}
	return int64(f), nil
}

func parseDuration(raw json.RawMessage) (any, error) {
	var text string
	if json.Unmarshal(raw, &text) != nil {
		return nil, wantType(Duration)
	}
	d, err := time.ParseDuration(text)
	if err != nil {
		return nil, wantType(Duration)
	}
	return d, nil
}

func parseList(raw json.RawMessage) (any, error) {
	var items []json.RawMessage
	if isNull(raw) || json.Unmarshal(raw, &items) != nil {
		return nil, wantType(StringList)
	}
	out := make([]string, len(items))
	for i, item := range items {
		if isNull(item) || json.Unmarshal(item, &out[i]) != nil {
			return nil, &elementError{Step{Kind: StepIndex, Index: i}, wantType(String).Error()}
		}
	}
	return out, nil
}

func parseMap(raw json.RawMessage) (any, error) {
	var items map[string]json.RawMessage
	if isNull(raw) || json.Unmarshal(raw, &items) != nil {
		return nil, wantType(StringMap)
	}
	out := make(map[string]string, len(items))
	for _, key := range sortedKeys(items) {
		var v string
		if isNull(items[key]) || json.Unmarshal(items[key], &v) != nil {
			return nil, &elementError{Step{Kind: StepKey, Name: key}, wantType(String).Error()}
		}
		out[key] = v
	}
	return out, nil
}

func isNull(raw json.RawMessage) bool {
	text := bytes.TrimSpace(raw)
	return len(text) == 0 || string(text) == "null"
}

func quoteAll(words []string) string {
	quoted := make([]string, len(words))
	for i, w := range words {
		quoted[i] = strconv.Quote(w)
	}
	return strings.Join(quoted, ", ")
}

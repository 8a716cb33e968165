package searchapi

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/patchbay-dev/patchbay/sdk/jsonedit"
)

type kind int

const (
	kindText kind = iota + 1
	kindWord
	kindFlag
	kindFlagOr
	kindInteger
	kindNumber
	kindTexts
	kindDate
	kindCountry
	kindLanguage
	kindObject
	kindList
)

const dateLayout = "2006-01-02"

// Value says which JSON values of a parameter mean something. All others are errors of the caller, also where the parameter is
// ignored.
type Value struct {
	kind      kind
	words     []string
	low, high float64
	most      int
}

func acceptText() Value                     { return Value{kind: kindText} }
func acceptWords(words ...string) Value     { return Value{kind: kindWord, words: words} }
func acceptFlag() Value                     { return Value{kind: kindFlag} }
func acceptFlagOr(words ...string) Value    { return Value{kind: kindFlagOr, words: words} }
func acceptInteger(low, high float64) Value { return Value{kind: kindInteger, low: low, high: high} }
func acceptNumber(low, high float64) Value  { return Value{kind: kindNumber, low: low, high: high} }
func acceptTexts(most int) Value            { return Value{kind: kindTexts, most: most} }
func acceptDate() Value                     { return Value{kind: kindDate} }
func acceptCountry() Value                  { return Value{kind: kindCountry} }
func acceptLanguage() Value                 { return Value{kind: kindLanguage} }
func acceptObject() Value                   { return Value{kind: kindObject} }
func acceptList() Value                     { return Value{kind: kindList} }
func quoteWords(words []string) string      { return "`" + strings.Join(words, "`, `") + "`" }

// Words returns the words that are permitted, if these are all there is.
func (v Value) Words() []string { return v.words }

// Bounds returns the smallest and the largest number that the value may be. ok reports whether it is a number.
func (v Value) Bounds() (low, high float64, ok bool) {
	return v.low, v.high, v.kind == kindInteger || v.kind == kindNumber
}

// String describes the values in the documentation.
func (v Value) String() string {
	switch v.kind {
	case kindWord:
		return quoteWords(v.words)
	case kindFlagOr:
		return "true, false, " + quoteWords(v.words)
	}
	return v.describeWanted()
}

// describeWanted describes the values in an error.
func (v Value) describeWanted() string {
	switch v.kind {
	case kindText:
		return "a string"
	case kindWord:
		return "one of " + strings.Join(v.words, ", ")
	case kindFlag:
		return "true or false"
	case kindFlagOr:
		return "true, false or one of " + strings.Join(v.words, ", ")
	case kindInteger:
		if v.high == math.MaxInt32 {
			return fmt.Sprintf("an integer from %g on", v.low)
		}
		return fmt.Sprintf("an integer from %s to %s", formatNumber(v.low), formatNumber(v.high))
	case kindNumber:
		return fmt.Sprintf("a number from %s to %s", formatNumber(v.low), formatNumber(v.high))
	case kindTexts:
		return fmt.Sprintf("a string or an array of up to %d strings", v.most)
	case kindDate:
		return "a date as YYYY-MM-DD"
	case kindCountry:
		return "a country by its lowercase English name, or its code of two letters"
	case kindLanguage:
		return "all, auto, or a code such as en or zh-CN"
	case kindObject:
		return "an object"
	}
	return "an array"
}

func formatNumber(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }

// Check returns an error that names the parameter unless raw, which is valid JSON, is a value that means something.
func (v Value) Check(name string, raw json.RawMessage) error {
	if v.acceptsJSON(raw) {
		return nil
	}
	return fmt.Errorf("%s must be %s", name, v.describeWanted())
}

func (v Value) acceptsJSON(raw json.RawMessage) bool {
	s, isText := decodeText(raw)
	switch v.kind {
	case kindText:
		return isText
	case kindWord:
		return isText && slices.Contains(v.words, s)
	case kindFlag:
		return isFlag(string(raw))
	case kindFlagOr:
		// The words are accepted as strings, the flags also as words.
		return isFlag(string(raw)) || isText && (isFlag(s) || slices.Contains(v.words, s))
	case kindInteger:
		n, ok := jsonedit.ParseInteger(raw)
		return ok && float64(n) >= v.low && float64(n) <= v.high
	case kindNumber:
		var f float64
		return !isText && json.Unmarshal(raw, &f) == nil && f >= v.low && f <= v.high
	case kindTexts:
		all, ok := decodeTexts(raw)
		return ok && len(all) <= v.most
	case kindDate:
		_, err := time.Parse(dateLayout, s)
		return isText && (s == "" || err == nil)
	case kindCountry:
		_, ok := FindRegion(s)
		return isText && ok
	case kindLanguage:
		return isText && isLanguage(s)
	case kindObject:
		return raw[0] == '{'
	}
	return raw[0] == '['
}

func isFlag(s string) bool { return s == "true" || s == "false" }

func decodeText(raw json.RawMessage) (s string, ok bool) {
	if raw[0] != '"' {
		return "", false
	}
	err := json.Unmarshal(raw, &s)
	return s, err == nil
}

// decodeTexts reads a string or an array of strings.
func decodeTexts(raw json.RawMessage) ([]string, bool) {
	if s, ok := decodeText(raw); ok {
		return []string{s}, true
	}
	var many []*string
	if raw[0] != '[' || json.Unmarshal(raw, &many) != nil || slices.Contains(many, nil) {
		return nil, false
	}
	out := make([]string, len(many))
	for i, s := range many {
		out[i] = *s
	}
	return out, true
}

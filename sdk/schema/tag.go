package schema

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// option is one element of the tag after the name.
type option struct {
	key, value string
	hasValue   bool
}

// parseTag splits a patchbay tag into the name and its options.
func parseTag(tag string) (name string, options []option, err error) {
	name, rest, more := strings.Cut(tag, ",")
	for more {
		var o option
		if o, rest, more, err = nextOption(rest); err != nil {
			return "", nil, err
		}
		options = append(options, o)
	}
	return name, options, nil
}

func nextOption(text string) (o option, rest string, more bool, err error) {
	end := strings.IndexAny(text, ",=")
	if end < 0 || text[end] == ',' {
		o.key, rest, more = strings.Cut(text, ",")
		return o, rest, more, nil
	}
	o.key, text, o.hasValue = text[:end], text[end+1:], true
	if !strings.HasPrefix(text, "'") {
		o.value, rest, more = strings.Cut(text, ",")
		return o, rest, more, nil
	}
	o.value, rest, err = unquoteValue(text)
	if err != nil {
		return o, "", false, err
	}
	if rest == "" {
		return o, "", false, nil
	}
	if rest[0] != ',' {
		return o, "", false, errors.New("text follows a closing quote in the tag")
	}
	return o, rest[1:], true, nil
}

// unquoteValue reads a value in single quotes, in which a doubled quote stands for one.
func unquoteValue(text string) (value, rest string, err error) {
	var b strings.Builder
	for i := 1; i < len(text); i++ {
		if text[i] != '\'' {
			b.WriteByte(text[i])
			continue
		}
		if i+1 < len(text) && text[i+1] == '\'' {
			b.WriteByte('\'')
			i++
			continue
		}
		return b.String(), text[i+1:], nil
	}
	return "", "", errors.New("a quote in the tag is not closed")
}

// applyOption puts one option of the tag into the attribute.
func (a *Attribute) applyOption(o option) error {
	flag := o.key == "required" || o.key == "sensitive"
	if flag == o.hasValue {
		return fmt.Errorf("tag element %q is not understood", o.key)
	}
	switch o.key {
	case "required":
		a.Required = true
	case "sensitive":
		a.Sensitive = true
	case "enum":
		a.Enum = strings.Split(o.value, "|")
	case "deprecated":
		a.Deprecated = o.value
	case "env":
		a.Env = o.value
	case "ref":
		a.Ref = o.value
	case "default":
		return a.setDefault(o.value)
	default:
		return fmt.Errorf("tag element %q is not understood", o.key)
	}
	return nil
}

func (a *Attribute) setDefault(text string) error {
	v, err := defaultValue(a.Type, text)
	if err != nil {
		return fmt.Errorf("read default %q: %w", text, err)
	}
	a.Default, err = json.Marshal(v)
	return err
}

// defaultValue reads the text of a default; a duration stays in the form that the author wrote.
func defaultValue(t Type, text string) (any, error) {
	switch t {
	case Number:
		return strconv.ParseFloat(text, 64)
	case Integer:
		return strconv.ParseInt(text, 10, 64)
	case Bool:
		return strconv.ParseBool(text)
	case Duration:
		_, err := time.ParseDuration(text)
		return text, err
	case StringList:
		if text == "" {
			return []string{}, nil
		}
		return strings.Split(text, "|"), nil
	case StringMap:
		return defaultMap(text)
	}
	return text, nil
}

func defaultMap(text string) (any, error) {
	out := map[string]string{}
	if text == "" {
		return out, nil
	}
	for member := range strings.SplitSeq(text, "|") {
		key, value, ok := strings.Cut(member, "=")
		if !ok {
			return nil, errors.New("a member has no =")
		}
		out[key] = value
	}
	return out, nil
}

package schema

import (
	"errors"
	"fmt"
	"reflect"
	"time"
)

var durationType = reflect.TypeFor[time.Duration]()
var secretType = reflect.TypeFor[Secret]()

// field joins a field of a struct with what the schema says about it; one of attr and block is nil.
type field struct {
	index int
	attr  *Attribute
	block *Block
	// fields are those of a block's struct.
	fields []field
}

// Of derives the schema of a struct or of a pointer to one (which may be nil). The error names the field that the
// package cannot use; it is the author's mistake.
func Of(v any) (*Schema, error) {
	t, err := structType(v)
	if err != nil {
		return nil, err
	}
	s, _, err := describeType(t, 1)
	if err != nil {
		return nil, err
	}
	return s, s.checkSchema()
}

func structType(v any) (reflect.Type, error) {
	t := reflect.TypeOf(v)
	if t != nil && t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t == nil || t.Kind() != reflect.Struct {
		return nil, fmt.Errorf("schema: %T is no struct", v)
	}
	return t, nil
}

func describeType(t reflect.Type, depth int) (*Schema, []field, error) {
	if depth > MaxDepth {
		return nil, nil, fmt.Errorf("schema: blocks nest deeper than %d", MaxDepth)
	}
	s, fields := &Schema{}, []field(nil)
	for i := range t.NumField() {
		sf := t.Field(i)
		tag, ok := sf.Tag.Lookup("patchbay")
		if !ok || tag == "-" {
			continue
		}
		f, err := describeField(sf, tag, depth)
		if err != nil {
			return nil, nil, fmt.Errorf("schema: field %s of %s: %w", sf.Name, t, err)
		}
		f.index = i
		fields = append(fields, f)
		if f.attr != nil {
			s.Attributes = append(s.Attributes, f.attr)
		} else {
			s.Blocks = append(s.Blocks, f.block)
		}
	}
	return s, fields, nil
}

func describeField(sf reflect.StructField, tag string, depth int) (field, error) {
	if !sf.IsExported() {
		return field{}, errors.New("it is not exported")
	}
	name, options, err := parseTag(tag)
	if err != nil {
		return field{}, err
	}
	if attr := attributeFor(sf.Type); attr != nil {
		attr.Name, attr.Doc = name, sf.Tag.Get("doc")
		for _, o := range options {
			if err := attr.applyOption(o); err != nil {
				return field{}, err
			}
		}
		return field{attr: attr}, nil
	}
	return describeBlock(sf, name, options, depth)
}

func describeBlock(sf reflect.StructField, name string, options []option, depth int) (field, error) {
	nesting, t := blockFor(sf.Type)
	if nesting == 0 {
		return field{}, fmt.Errorf("type %s is not supported", sf.Type)
	}
	b := &Block{Name: name, Nesting: nesting, Doc: sf.Tag.Get("doc")}
	for _, o := range options {
		if o.key != "required" || o.hasValue {
			return field{}, fmt.Errorf("tag element %q is not understood for a block", o.key)
		}
		b.Required = true
	}
	s, fields, err := describeType(t, depth+1)
	if err != nil {
		return field{}, err
	}
	b.Schema = s
	return field{block: b, fields: fields}, nil
}

// attributeFor returns an attribute with type and sensitivity, or nil if the Go type is none of an attribute.
func attributeFor(t reflect.Type) *Attribute {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
		if t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice || t.Kind() == reflect.Map {
			return nil
		}
	}
	switch {
	case t == durationType:
		return &Attribute{Type: Duration}
	case t.Kind() == reflect.String:
		return &Attribute{Type: String, Sensitive: t == secretType}
	case t.Kind() == reflect.Int, t.Kind() == reflect.Int64:
		return &Attribute{Type: Integer}
	case t.Kind() == reflect.Float64:
		return &Attribute{Type: Number}
	case t.Kind() == reflect.Bool:
		return &Attribute{Type: Bool}
	case t.Kind() == reflect.Slice && t.Elem().Kind() == reflect.String:
		return &Attribute{Type: StringList, Sensitive: t.Elem() == secretType}
	case t.Kind() == reflect.Map && t.Key().Kind() == reflect.String && t.Elem().Kind() == reflect.String:
		return &Attribute{Type: StringMap, Sensitive: t.Elem() == secretType}
	}
	return nil
}

// blockFor returns the nesting and the struct type of a block, or 0.
func blockFor(t reflect.Type) (Nesting, reflect.Type) {
	nesting := Single
	switch t.Kind() {
	case reflect.Slice:
		nesting, t = List, t.Elem()
	case reflect.Map:
		if t.Key().Kind() != reflect.String {
			return 0, nil
		}
		nesting, t = Map, t.Elem()
	case reflect.Pointer:
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct {
		return 0, nil
	}
	return nesting, t
}

package schema

import (
	"bytes"
	"encoding/json"
	"errors"
	"maps"
	"reflect"
	"slices"
	"time"
)

// Decode fills the struct to which into points from the JSON that the host sends: an object with a member for each
// attribute and block. A member that is absent or null takes its default, else the zero value; empty JSON counts as
// an object without members. Unknown members, wrong types, strings outside an enum and missing required values are
// errors with their paths. No value is repeated in a diagnostic. With errors, the struct is filled in part.
func Decode(data []byte, into any) Diagnostics {
	t, err := structType(into)
	if err != nil {
		return Errorf(nil, "%s", err)
	}
	target := reflect.ValueOf(into)
	if target.Kind() != reflect.Pointer || target.IsNil() {
		return Errorf(nil, "schema: Decode needs a pointer to a struct")
	}
	s, fields, err := describeType(t, 1)
	if err == nil {
		err = s.checkSchema()
	}
	if err != nil {
		return Errorf(nil, "%s", err)
	}
	if len(bytes.TrimSpace(data)) == 0 {
		data = []byte("{}")
	}
	return decodeStruct(data, fields, target.Elem(), nil)
}

func decodeStruct(raw json.RawMessage, fields []field, target reflect.Value, path Path) Diagnostics {
	var members map[string]json.RawMessage
	if !isNull(raw) && json.Unmarshal(raw, &members) != nil {
		return Errorf(path, "must be an object")
	}
	var ds Diagnostics
	for _, f := range fields {
		v := target.Field(f.index)
		if f.attr != nil {
			ds = append(ds, decodeAttribute(members[f.attr.Name], f.attr, v, path)...)
			delete(members, f.attr.Name)
			continue
		}
		ds = append(ds, decodeBlock(members[f.block.Name], f, v, path.Attr(f.block.Name))...)
		delete(members, f.block.Name)
	}
	for _, name := range sortedKeys(members) {
		ds = append(ds, Errorf(path.Attr(name), "is not known here")...)
	}
	return ds
}

func decodeAttribute(raw json.RawMessage, a *Attribute, target reflect.Value, parent Path) Diagnostics {
	path := parent.Attr(a.Name)
	if isNull(raw) {
		if a.Required {
			return Errorf(path, "is required")
		}
		if a.Default == nil {
			target.SetZero()
			return nil
		}
		raw = a.Default
	}
	if err := a.checkJSON(raw); err != nil {
		if e, ok := errors.AsType[*elementError](err); ok {
			path = path.withStep(e.step)
		}
		return Errorf(path, "%s", err)
	}
	v, err := parseValue(a.Type, raw)
	if err != nil {
		return Errorf(path, "%s", err)
	}
	if ds := checkUserInfos(v, path); ds != nil {
		return ds
	}
	setValue(target, v)
	return nil
}

// checkUserInfos checks the texts of a value; see CheckUserInfo.
func checkUserInfos(v any, path Path) Diagnostics {
	switch v := v.(type) {
	case string:
		if err := CheckUserInfo(v); err != nil {
			return Errorf(path, "%v", err)
		}
	case []string:
		for i, e := range v {
			if ds := checkUserInfos(e, path.Index(i)); ds != nil {
				return ds
			}
		}
	case map[string]string:
		for _, key := range sortedKeys(v) {
			if ds := checkUserInfos(v[key], path.Key(key)); ds != nil {
				return ds
			}
		}
	}
	return nil
}

// setValue stores a value of parseValue in a field that attributeFor has accepted.
func setValue(target reflect.Value, v any) {
	if target.Kind() == reflect.Pointer {
		target.Set(reflect.New(target.Type().Elem()))
		target = target.Elem()
	}
	switch v := v.(type) {
	case string:
		target.SetString(v)
	case float64:
		target.SetFloat(v)
	case int64:
		target.SetInt(v)
	case time.Duration:
		target.SetInt(int64(v))
	case bool:
		target.SetBool(v)
	case []string:
		list := reflect.MakeSlice(target.Type(), len(v), len(v))
		for i, e := range v {
			list.Index(i).SetString(e)
		}
		target.Set(list)
	case map[string]string:
		setMap(target, v)
	}
}

func setMap(target reflect.Value, v map[string]string) {
	t := target.Type()
	m := reflect.MakeMapWithSize(t, len(v))
	for key, e := range v {
		m.SetMapIndex(reflect.ValueOf(key).Convert(t.Key()), reflect.ValueOf(e).Convert(t.Elem()))
	}
	target.Set(m)
}

func decodeBlock(raw json.RawMessage, f field, target reflect.Value, path Path) Diagnostics {
	switch f.block.Nesting {
	case List:
		return decodeBlockList(raw, f, target, path)
	case Map:
		return decodeBlockMap(raw, f, target, path)
	}
	if isNull(raw) && f.block.Required {
		return Errorf(path, "the block is required")
	}
	if target.Kind() == reflect.Pointer {
		if isNull(raw) {
			target.SetZero()
			return nil
		}
		target.Set(reflect.New(target.Type().Elem()))
		target = target.Elem()
	}
	return decodeStruct(raw, f.fields, target, path)
}

func decodeBlockList(raw json.RawMessage, f field, target reflect.Value, path Path) Diagnostics {
	var items []json.RawMessage
	if !isNull(raw) && json.Unmarshal(raw, &items) != nil {
		return Errorf(path, "must be a list of objects")
	}
	if len(items) == 0 && f.block.Required {
		return Errorf(path, "at least one block is required")
	}
	var ds Diagnostics
	list := reflect.MakeSlice(target.Type(), len(items), len(items))
	for i, item := range items {
		ds = append(ds, decodeStruct(item, f.fields, list.Index(i), path.Index(i))...)
	}
	target.Set(list)
	return ds
}

func decodeBlockMap(raw json.RawMessage, f field, target reflect.Value, path Path) Diagnostics {
	var items map[string]json.RawMessage
	if !isNull(raw) && json.Unmarshal(raw, &items) != nil {
		return Errorf(path, "must be an object of objects")
	}
	if len(items) == 0 && f.block.Required {
		return Errorf(path, "at least one block is required")
	}
	var ds Diagnostics
	t := target.Type()
	m := reflect.MakeMapWithSize(t, len(items))
	for _, key := range sortedKeys(items) {
		v := reflect.New(t.Elem()).Elem()
		ds = append(ds, decodeStruct(items[key], f.fields, v, path.Key(key))...)
		m.SetMapIndex(reflect.ValueOf(key).Convert(t.Key()), v)
	}
	target.Set(m)
	return ds
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// Package compat holds the promise of sdk/docs/COMPAT.md as a check: what a released version of the .proto files offers,
// the present one offers as well, unchanged. It also keeps the published set of their descriptors.
package compat

import (
	"fmt"
	"strings"

	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/descriptorpb"
)

// ours is how the packages begin that are under the promise.
const ours = "patchbay."

// Broken lists what of the released files is missing or different now, one sentence each, in the order of the files.
// What has been added is no concern of it.
func Broken(released, now *protoregistry.Files) []string {
	c := &comparison{now: now}
	for _, f := range sortedByPath(released) {
		if strings.HasPrefix(string(f.Package()), ours) {
			c.compareFile(f)
		}
	}
	return c.found
}

type comparison struct {
	now   *protoregistry.Files
	found []string
}

func (c *comparison) reportChange(format string, args ...any) {
	c.found = append(c.found, fmt.Sprintf(format, args...))
}

func (c *comparison) compareFile(old protoreflect.FileDescriptor) {
	f, err := c.now.FindFileByPath(old.Path())
	switch {
	case err != nil:
		c.reportChange("the file %s is gone", old.Path())
		return
	case f.Package() != old.Package():
		c.reportChange("the file %s had the package %s and now has %s: a new package is a new version beside the old one", old.Path(),
			old.Package(), f.Package())
		return
	case f.Syntax() != old.Syntax():
		c.reportChange("the file %s had the syntax %s and now has %s", old.Path(), old.Syntax(), f.Syntax())
	}
	for i := range old.Services().Len() {
		c.compareService(old.Services().Get(i))
	}
	c.compareMessages(old.Messages())
	c.compareEnums(old.Enums())
}

// findDeclaration looks for a declaration of the same name and sort; what is missing is reported.
func findDeclaration[D protoreflect.Descriptor](c *comparison, sort string, old D) (found D, ok bool) {
	d, err := c.now.FindDescriptorByName(old.FullName())
	if err == nil {
		found, ok = d.(D)
	}
	if !ok {
		c.reportChange("the %s %s is gone: keep it, and mark it as deprecated", sort, old.FullName())
	}
	return found, ok
}

func (c *comparison) compareService(old protoreflect.ServiceDescriptor) {
	now, ok := findDeclaration(c, "service", old)
	if !ok {
		return
	}
	for i := range old.Methods().Len() {
		m := old.Methods().Get(i)
		if n := now.Methods().ByName(m.Name()); n != nil {
			c.compareMethod(m, n)
			continue
		}
		c.reportChange("the method %s is gone: keep it, and mark it as deprecated", m.FullName())
	}
}

func (c *comparison) compareMethod(old, now protoreflect.MethodDescriptor) {
	if o, n := old.Input().FullName(), now.Input().FullName(); o != n {
		c.reportChange("the method %s took %s and now takes %s", old.FullName(), o, n)
	}
	if o, n := old.Output().FullName(), now.Output().FullName(); o != n {
		c.reportChange("the method %s returned %s and now returns %s", old.FullName(), o, n)
	}
	for _, side := range []struct {
		name     string
		old, now bool
	}{
		{"requests", old.IsStreamingClient(), now.IsStreamingClient()},
		{"answers", old.IsStreamingServer(), now.IsStreamingServer()},
	} {
		if side.old != side.now {
			c.reportChange("the method %s had %s and now has %s", old.FullName(), describeStreaming(side.name, side.old),
				describeStreaming(side.name, side.now))
		}
	}
}

func describeStreaming(what string, on bool) string {
	if on {
		return "a stream of " + what
	}
	return "no stream of " + what
}

func (c *comparison) compareMessages(all protoreflect.MessageDescriptors) {
	for i := range all.Len() {
		old := all.Get(i)
		now, ok := findDeclaration(c, "message", old)
		if !ok {
			continue
		}
		for j := range old.Fields().Len() {
			c.compareField(old.Fields().Get(j), now.Fields())
		}
		c.compareMessages(old.Messages())
		c.compareEnums(old.Enums())
	}
}

func (c *comparison) compareField(old protoreflect.FieldDescriptor, fields protoreflect.FieldDescriptors) {
	now := fields.ByNumber(old.Number())
	moved := fields.ByName(old.Name())
	switch {
	case moved != nil && moved.Number() != old.Number():
		c.reportChange("the field %s had the number %d and now has %d", old.FullName(), old.Number(), moved.Number())
		return
	case now == nil:
		c.reportChange("the field %s with the number %d is gone: keep it, and mark it as deprecated", old.FullName(), old.Number())
		return
	case now.Name() != old.Name():
		c.reportChange("the field %s with the number %d is now called %s", old.FullName(), old.Number(), now.Name())
		return
	}
	if o, n := describeFieldType(old), describeFieldType(now); o != n {
		c.reportChange("the field %s was %s and is now %s", old.FullName(), o, n)
	}
	if o, n := describeOneof(old), describeOneof(now); o != n {
		c.reportChange("the field %s was %s and is now %s", old.FullName(), o, n)
	}
	if isRedacted(old) && !isRedacted(now) {
		c.reportChange("the field %s was redacted in texts and is no longer: it holds what nobody may read", old.FullName())
	}
}

// describeFieldType is all of a field's type that both sides must agree on.
func describeFieldType(f protoreflect.FieldDescriptor) string {
	switch {
	case f.IsMap():
		return "a map of " + describeFieldType(f.MapKey()) + " to " + describeFieldType(f.MapValue())
	case f.IsList():
		return "a list of " + describeType(f)
	case f.HasOptionalKeyword():
		return "an optional " + describeType(f)
	}
	return describeType(f)
}

func describeType(f protoreflect.FieldDescriptor) string {
	switch {
	case f.Message() != nil:
		return string(f.Message().FullName())
	case f.Enum() != nil:
		return string(f.Enum().FullName())
	}
	return f.Kind().String()
}

func describeOneof(f protoreflect.FieldDescriptor) string {
	if o := f.ContainingOneof(); o != nil && !o.IsSynthetic() {
		return "in the oneof " + string(o.Name())
	}
	return "in no oneof"
}

func isRedacted(f protoreflect.FieldDescriptor) bool {
	o, ok := f.Options().(*descriptorpb.FieldOptions)
	return ok && o.GetDebugRedact()
}

func (c *comparison) compareEnums(all protoreflect.EnumDescriptors) {
	for i := range all.Len() {
		old := all.Get(i)
		now, ok := findDeclaration(c, "enum", old)
		if !ok {
			continue
		}
		for j := range old.Values().Len() {
			c.compareValue(old.Values().Get(j), now.Values())
		}
	}
}

func (c *comparison) compareValue(old protoreflect.EnumValueDescriptor, values protoreflect.EnumValueDescriptors) {
	now, moved := values.ByNumber(old.Number()), values.ByName(old.Name())
	switch {
	case moved != nil && moved.Number() != old.Number():
		c.reportChange("the enum value %s had the number %d and now has %d", old.FullName(), old.Number(), moved.Number())
	case now == nil:
		c.reportChange("the enum value %s with the number %d is gone: keep it, and mark it as deprecated", old.FullName(), old.Number())
	case moved == nil:
		c.reportChange("the enum value %s with the number %d is now called %s", old.FullName(), old.Number(), now.Name())
	}
}

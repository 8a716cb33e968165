package compat_test

import (
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/descriptorpb"

	"github.com/patchbay-dev/patchbay/sdk/proto/internal/compat"
)

// mutant is the present set, in which a test changes something.
type mutant struct {
	t   *testing.T
	set *descriptorpb.FileDescriptorSet
}

func named[D interface{ GetName() string }](t *testing.T, all []D, name string) D {
	t.Helper()
	i := slices.IndexFunc(all, func(d D) bool { return d.GetName() == name })
	if i < 0 {
		t.Fatalf("there is no %s", name)
	}
	return all[i]
}

func without[D interface{ GetName() string }](all []D, name string) []D {
	return slices.DeleteFunc(all, func(d D) bool { return d.GetName() == name })
}

func (m mutant) search() *descriptorpb.FileDescriptorProto {
	return named(m.t, m.set.File, "patchbay/search/v1/search.proto")
}

func (m mutant) notify() *descriptorpb.FileDescriptorProto {
	return named(m.t, m.set.File, "patchbay/notify/v1/notify.proto")
}

func (m mutant) message(name string) *descriptorpb.DescriptorProto {
	return named(m.t, m.search().MessageType, name)
}

func (m mutant) field(message, name string) *descriptorpb.FieldDescriptorProto {
	return named(m.t, m.message(message).Field, name)
}

func (m mutant) method(name string) *descriptorpb.MethodDescriptorProto {
	return named(m.t, m.search().Service[0].Method, name)
}

func TestWhatBreaksIsReported(t *testing.T) {
	for name, tt := range map[string]struct {
		change func(mutant)
		want   string
	}{
		"field removed": {func(m mutant) { d := m.message("Head"); d.Field = without(d.Field, "upstream_us") },
			"the field patchbay.search.v1.Head.upstream_us with the number 7 is gone"},
		"field renumbered": {func(m mutant) { m.field("Head", "upstream_us").Number = proto.Int32(70) },
			"the field patchbay.search.v1.Head.upstream_us had the number 7 and now has 70"},
		"field renamed": {func(m mutant) { m.field("Head", "upstream_us").Name = proto.String("took_us") },
			"the field patchbay.search.v1.Head.upstream_us with the number 7 is now called took_us"},
		"field retyped": {func(m mutant) {
			m.field("Head", "upstream_us").Type = descriptorpb.FieldDescriptorProto_TYPE_STRING.Enum()
		}, "the field patchbay.search.v1.Head.upstream_us was int64 and is now string"},
		"field of another message": {func(m mutant) {
			m.field("Head", "key").TypeName = proto.String(".patchbay.search.v1.Price")
		}, "the field patchbay.search.v1.Head.key was patchbay.search.v1.KeyVerdict and is now patchbay.search.v1.Price"},
		"field of another enum": {func(m mutant) {
			m.field("KeyVerdict", "state").TypeName = proto.String(".patchbay.search.v1.Credential")
		}, "the field patchbay.search.v1.KeyVerdict.state was patchbay.search.v1.KeyState and is now patchbay.search.v1.Credential"},
		"field no longer a list": {func(m mutant) {
			m.field("Head", "headers").Label = descriptorpb.FieldDescriptorProto_LABEL_OPTIONAL.Enum()
		}, "the field patchbay.search.v1.Head.headers was a list of patchbay.shared.v1.Header and is now patchbay.shared.v1.Header"},
		"field out of its oneof": {func(m mutant) { m.field("StreamResponse", "tail").OneofIndex = nil },
			"the field patchbay.search.v1.StreamResponse.tail was in the oneof message and is now in no oneof"},
		"field no longer redacted": {func(m mutant) { m.field("InvokeRequest", "body").Options = nil },
			"the field patchbay.search.v1.InvokeRequest.body was redacted"},
		"message removed": {func(m mutant) {
			m.search().MessageType = without(m.search().MessageType, "Head")
			for _, of := range []string{"InvokeResponse", "StreamResponse"} {
				d := m.message(of)
				d.Field = slices.DeleteFunc(d.Field, func(f *descriptorpb.FieldDescriptorProto) bool { return f.GetTypeName() == ".patchbay.search.v1.Head" })
			}
		}, "the message patchbay.search.v1.Head is gone"},
		"enum value removed": {func(m mutant) { e := m.search().EnumType[1]; e.Value = without(e.Value, "KEY_STATE_EXHAUSTED") },
			"the enum value patchbay.search.v1.KEY_STATE_EXHAUSTED with the number 4 is gone"},
		"enum value renumbered": {func(m mutant) {
			named(m.t, m.search().EnumType[1].Value, "KEY_STATE_EXHAUSTED").Number = proto.Int32(9)
		}, "the enum value patchbay.search.v1.KEY_STATE_EXHAUSTED had the number 4 and now has 9"},
		"enum value renamed": {func(m mutant) {
			named(m.t, m.search().EnumType[1].Value, "KEY_STATE_EXHAUSTED").Name = proto.String("KEY_STATE_EMPTY")
		}, "the enum value patchbay.search.v1.KEY_STATE_EXHAUSTED with the number 4 is now called KEY_STATE_EMPTY"},
		"service removed": {func(m mutant) { m.notify().Service = nil }, "the service patchbay.notify.v1.Channel is gone"},
		"method removed": {func(m mutant) { s := m.search().Service[0]; s.Method = without(s.Method, "KeyStatus") },
			"the method patchbay.search.v1.Search.KeyStatus is gone"},
		"method takes another": {func(m mutant) { m.method("KeyStatus").InputType = proto.String(".patchbay.search.v1.InvokeRequest") },
			"the method patchbay.search.v1.Search.KeyStatus took patchbay.search.v1.KeyStatusRequest and now takes patchbay.search.v1.InvokeRequest"},
		"method returns another": {func(m mutant) { m.method("KeyStatus").OutputType = proto.String(".patchbay.search.v1.Head") },
			"the method patchbay.search.v1.Search.KeyStatus returned patchbay.search.v1.KeyStatusResponse and now returns patchbay.search.v1.Head"},
		"method no longer streams": {func(m mutant) { m.method("Stream").ServerStreaming = proto.Bool(false) },
			"the method patchbay.search.v1.Search.Stream had a stream of answers and now has no stream of answers"},
		"method streams requests": {func(m mutant) { m.method("Invoke").ClientStreaming = proto.Bool(true) },
			"the method patchbay.search.v1.Search.Invoke had no stream of requests and now has a stream of requests"},
		"package renamed": {func(m mutant) { rename(m.notify(), "patchbay.notify.v1", "patchbay.notify.v2") },
			"the file patchbay/notify/v1/notify.proto had the package patchbay.notify.v1 and now has patchbay.notify.v2"},
		"file removed": {func(m mutant) { m.set.File = without(m.set.File, "patchbay/notify/v1/notify.proto") },
			"the file patchbay/notify/v1/notify.proto is gone"},
	} {
		t.Run(name, func(t *testing.T) {
			m := mutant{t, proto.Clone(compat.Published()).(*descriptorpb.FileDescriptorSet)}
			tt.change(m)
			found := compat.Broken(registry(t, compat.Published()), registry(t, m.set))
			if !slices.ContainsFunc(found, func(s string) bool { return strings.HasPrefix(s, tt.want) }) {
				t.Errorf("reported is %q, want %q", found, tt.want)
			}
		})
	}
}

// rename moves a file, and what it says of its own types, into another package.
func rename(f *descriptorpb.FileDescriptorProto, from, to string) {
	f.Package = proto.String(to)
	move := func(name *string) {
		if name != nil {
			*name = strings.Replace(*name, "."+from+".", "."+to+".", 1)
		}
	}
	for _, m := range f.MessageType {
		for _, field := range m.Field {
			move(field.TypeName)
		}
	}
	for _, s := range f.Service {
		for _, m := range s.Method {
			move(m.InputType)
			move(m.OutputType)
		}
	}
}

// Whatever is added, and what other packages do, passes.
func TestAdditionsPass(t *testing.T) {
	m := mutant{t, proto.Clone(compat.Published()).(*descriptorpb.FileDescriptorSet)}
	head := m.message("Head")
	head.Field = append(head.Field, &descriptorpb.FieldDescriptorProto{
		Name: proto.String("added"), Number: proto.Int32(100), Type: descriptorpb.FieldDescriptorProto_TYPE_BYTES.Enum(),
		Label: descriptorpb.FieldDescriptorProto_LABEL_OPTIONAL.Enum(),
	})
	m.search().MessageType = append(m.search().MessageType, &descriptorpb.DescriptorProto{Name: proto.String("Added")})
	states := m.search().EnumType[1]
	states.Value = append(states.Value, &descriptorpb.EnumValueDescriptorProto{Name: proto.String("KEY_STATE_ADDED"), Number: proto.Int32(50)})
	service := m.search().Service[0]
	service.Method = append(service.Method, &descriptorpb.MethodDescriptorProto{
		Name: proto.String("Added"), InputType: proto.String(".patchbay.search.v1.Added"), OutputType: proto.String(".patchbay.search.v1.Added"),
	})
	m.field("Head", "upstream_us").Options = &descriptorpb.FieldOptions{Deprecated: proto.Bool(true)}
	m.set.File = append(m.set.File, &descriptorpb.FileDescriptorProto{
		Name: proto.String("patchbay/search/v2/search.proto"), Package: proto.String("patchbay.search.v2"), Syntax: proto.String("proto3"),
	})
	m.set.File = without(m.set.File, "grpc/health/v1/health.proto")
	if found := compat.Broken(registry(t, compat.Published()), registry(t, m.set)); len(found) > 0 {
		t.Errorf("reported: %q", found)
	}
}

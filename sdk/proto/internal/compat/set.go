package compat

import (
	"cmp"
	"fmt"
	"os"
	"slices"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/genproto/googleapis/rpc/status"
	"google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/descriptorpb"

	"github.com/patchbay-dev/patchbay/sdk/kinds"
	pluginv1 "github.com/patchbay-dev/patchbay/sdk/proto/patchbay/plugin/v1"
	sharedv1 "github.com/patchbay-dev/patchbay/sdk/proto/patchbay/shared/v1"
)

// Published are the descriptors that authors without the SDK load: our files, and those of others that the contract
// names (health, status and its details), each after the files that it imports.
func Published() *descriptorpb.FileDescriptorSet {
	set, seen := &descriptorpb.FileDescriptorSet{}, map[string]bool{}
	var add func(protoreflect.FileDescriptor)
	add = func(f protoreflect.FileDescriptor) {
		if seen[f.Path()] {
			return
		}
		seen[f.Path()] = true
		for i := range f.Imports().Len() {
			add(f.Imports().Get(i).FileDescriptor)
		}
		set.File = append(set.File, protodesc.ToFileDescriptorProto(f))
	}
	add(sharedv1.File_patchbay_shared_v1_shared_proto)
	add(pluginv1.File_patchbay_plugin_v1_plugin_proto)
	for _, k := range kinds.All() {
		add(k.File)
	}
	for _, f := range []protoreflect.FileDescriptor{
		grpc_health_v1.File_grpc_health_v1_health_proto, status.File_google_rpc_status_proto, errdetails.File_google_rpc_error_details_proto,
	} {
		add(f)
	}
	return set
}

// ReadSet reads a serialised FileDescriptorSet.
func ReadSet(path string) (*descriptorpb.FileDescriptorSet, error) {
	raw, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	set := &descriptorpb.FileDescriptorSet{}
	if err := proto.Unmarshal(raw, set); err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	return set, nil
}

// WriteSet writes a set; the same set gives the same bytes.
func WriteSet(path string, set *descriptorpb.FileDescriptorSet) error {
	raw, err := proto.MarshalOptions{Deterministic: true}.Marshal(set)
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return os.WriteFile(path, raw, 0o644)
}

// sortedByPath are the files by path.
func sortedByPath(files *protoregistry.Files) (out []protoreflect.FileDescriptor) {
	files.RangeFiles(func(f protoreflect.FileDescriptor) bool {
		out = append(out, f)
		return true
	})
	slices.SortFunc(out, func(a, b protoreflect.FileDescriptor) int { return cmp.Compare(a.Path(), b.Path()) })
	return out
}

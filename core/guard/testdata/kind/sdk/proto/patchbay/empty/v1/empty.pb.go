// Package emptyv1 stands for what "make generate" writes for empty.proto.
package emptyv1

import (
	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"
)

// File_patchbay_empty_v1_empty_proto is the descriptor of empty.proto.
var File_patchbay_empty_v1_empty_proto protoreflect.FileDescriptor = func() protoreflect.FileDescriptor {
	f, err := protodesc.NewFile(&descriptorpb.FileDescriptorProto{
		Name: proto.String("patchbay/empty/v1/empty.proto"), Package: proto.String("patchbay.empty.v1"), Syntax: proto.String("proto3"),
		Service: []*descriptorpb.ServiceDescriptorProto{{Name: proto.String("Empty")}},
	}, nil)
	if err != nil {
		panic(err)
	}
	return f
}()

// EmptyServer is the server API for the service Empty.
type EmptyServer interface{}

// RegisterEmptyServer registers the service.
func RegisterEmptyServer(s grpc.ServiceRegistrar, srv EmptyServer) {
	s.RegisterService(&grpc.ServiceDesc{ServiceName: "patchbay.empty.v1.Empty", HandlerType: (*EmptyServer)(nil)}, srv)
}

// Package proto holds the published protocol, for programs that are written without the SDK.
package proto

import "embed"

// Files has the .proto files, in directories as they import each other, and patchbay.binpb: the same in compiled form, a
// serialised FileDescriptorSet.
//
//go:embed patchbay/*/v1/*.proto patchbay.binpb
var Files embed.FS

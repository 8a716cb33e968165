//go:build tools

// Package tools pins the programs that development needs and the product does not.
package tools

import (
	_ "github.com/a-h/templ/cmd/templ"
	_ "github.com/tdewolff/minify/v2/cmd/minify"
	_ "google.golang.org/grpc/cmd/protoc-gen-go-grpc"
	_ "google.golang.org/protobuf/cmd/protoc-gen-go"
)

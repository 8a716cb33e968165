//go:build tools

// Package lint pins golangci-lint. It is a module of its own, since the linters need more modules than all other tools.
package lint

import _ "github.com/golangci/golangci-lint/v2/cmd/golangci-lint"

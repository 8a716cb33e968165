// Package examples holds the plugins that were written without the SDK, of which new ones in the same languages are made.
package examples

import "embed"

// Plugins has the folders notify-node and search-python: the programs, and what a package manager reads.
//
//go:embed notify-node/*.mjs notify-node/*.json notify-node/status.proto search-python/*.py
var Plugins embed.FS

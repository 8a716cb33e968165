package main

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/patchbay-dev/patchbay/sdk/framework"
	"github.com/patchbay-dev/patchbay/sdk/schema"
)

var update = flag.Bool("update", false, "write core/docs/reference-plugins.md")

// TestPluginsReference keeps reference-plugins.md: the settings of every built-in plugin.
func TestPluginsReference(t *testing.T) {
	var b strings.Builder
	b.WriteString("# Settings of plugins\n\nWhat you can set in the block `config` of an instance, for each plugin that comes with Patchbay. " +
		"`patchbay plugin describe NAME` prints the same with a block to copy, also for plugins of others. This page is generated from the code.\n")
	all := builtin()
	for _, name := range slices.Sorted(maps.Keys(all)) {
		writePlugin(t, &b, name, all[name]())
	}
	path := filepath.Join("..", "..", "..", "core", "docs", "reference-plugins.md")
	if *update {
		if err := os.WriteFile(path, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	found, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if string(found) != b.String() {
		t.Error("core/docs/reference-plugins.md is not what the plugins say: run make generate")
	}
}

// writePlugin writes the heading, the summary and the settings of a plugin.
func writePlugin(t *testing.T, b *strings.Builder, name string, p framework.Plugin) {
	t.Helper()
	fmt.Fprintf(b, "\n## %s\n\n%s\n", name, p.Summary)
	for _, k := range p.Kinds {
		about, err := k.Describe()
		if err != nil {
			t.Fatal(err)
		}
		settings, err := schema.FromProto(about.GetConfig())
		if err != nil {
			t.Fatal(err)
		}
		if len(settings.Attributes)+len(settings.Blocks) == 0 {
			b.WriteString("\nIt has no settings.\n")
			continue
		}
		b.WriteString("\n")
		if err := settings.WriteMarkdown(b); err != nil {
			t.Fatal(err)
		}
	}
}

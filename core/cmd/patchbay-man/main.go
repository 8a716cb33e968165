// Command patchbay-man writes the manual pages of patchbay into a directory: patchbay-man DIRECTORY DATE, with the date of the
// pages as seconds since 1970.
package main

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"time"

	"github.com/spf13/cobra/doc"

	"github.com/patchbay-dev/patchbay/core/cli"
)

func main() {
	if err := writeManual(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "patchbay-man:", err)
		os.Exit(1)
	}
}

// writeManual writes a page of section 1 for each command.
func writeManual(args []string) error {
	if len(args) != 2 {
		return errors.New("usage: patchbay-man DIRECTORY DATE")
	}
	seconds, err := strconv.ParseInt(args[1], 10, 64)
	if err != nil {
		return fmt.Errorf("the date must be seconds since 1970: %w", err)
	}
	if err := os.MkdirAll(args[0], 0o755); err != nil {
		return err
	}
	date := time.Unix(seconds, 0).UTC()
	root := cli.Commands()
	root.DisableAutoGenTag = true
	return doc.GenManTree(root, &doc.GenManHeader{Title: "PATCHBAY", Section: "1", Source: "Patchbay " + cli.Version, Manual: "Patchbay",
		Date: &date}, args[0])
}

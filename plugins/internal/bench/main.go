// Command bench measures the whole path of a search (token, quota, audit, key pool, plugin process, upstream) against a
// bare reverse proxy over the same loopback upstream. All targets are processes of their own; rounds are interleaved,
// and medians are reported, so that ratios hold on a machine whose speed drifts.
//
// It expects bin/patchbay and bin/patchbay-plugins. Output is Markdown.
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// options are the command line.
type options struct {
	bin      string
	rounds   int
	duration time.Duration
	starts   int
	only     string
}

func main() {
	if len(os.Args) > 2 && os.Args[1] == "role" {
		if err := role(os.Args[2], os.Args[3:]); err != nil {
			fmt.Fprintln(os.Stderr, "bench:", err)
			os.Exit(1)
		}
		return
	}
	var o options
	flag.StringVar(&o.bin, "bin", "bin", "directory of the binaries")
	flag.IntVar(&o.rounds, "rounds", 7, "rounds of each cell")
	flag.DurationVar(&o.duration, "duration", time.Second, "length of one round of one target")
	flag.IntVar(&o.starts, "starts", 15, "plugin starts and kills that are timed")
	flag.StringVar(&o.only, "only", "", "measure only: path, audit, plugin")
	flag.Parse()
	bin, err := filepath.Abs(o.bin)
	if err == nil {
		o.bin = bin
		err = run(o)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run(o options) error {
	b, err := newBench(o)
	if err != nil {
		return err
	}
	defer b.close()
	fmt.Print(machine(o))
	for _, part := range []struct {
		name string
		run  func() error
	}{{"path", b.path}, {"audit", b.auditCost}, {"plugin", b.plugin}} {
		if o.only == "" || o.only == part.name {
			if err := part.run(); err != nil {
				return fmt.Errorf("%s: %w", part.name, err)
			}
		}
	}
	return nil
}

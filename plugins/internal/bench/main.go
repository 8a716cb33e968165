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
	"strconv"
	"strings"
	"time"
)

// options are the command line.
type options struct {
	bin      string
	rounds   int
	duration time.Duration
	starts   int
	only     string
	// postgres is the URL of a server, or "".
	postgres string
	// connections are the numbers of connections that the path is measured with.
	connections []int
}

func main() {
	if len(os.Args) > 2 && os.Args[1] == "role" {
		if err := runRole(os.Args[2], os.Args[3:]); err != nil {
			fmt.Fprintln(os.Stderr, "bench:", err)
			os.Exit(1)
		}
		return
	}
	o := options{connections: []int{1, 16, 64}}
	flag.StringVar(&o.bin, "bin", "bin", "directory of the binaries")
	flag.IntVar(&o.rounds, "rounds", 5, "rounds of each cell")
	flag.DurationVar(&o.duration, "duration", 2*time.Second, "length of one round of one target")
	flag.IntVar(&o.starts, "starts", 15, "plugin starts and kills that are timed")
	flag.StringVar(&o.only, "only", "", "measure only: path, audit, plugin, replicas")
	flag.StringVar(&o.postgres, "postgres", os.Getenv("PATCHBAY_TEST_POSTGRES"), "URL of a server on which databases may be created")
	flag.Func("connections", "numbers of connections, separated by commas (default 1,16,64)", func(text string) error {
		o.connections = nil
		for part := range strings.SplitSeq(text, ",") {
			n, err := strconv.Atoi(part)
			if err != nil || n < 1 {
				return fmt.Errorf("%q is no positive number", part)
			}
			o.connections = append(o.connections, n)
		}
		return nil
	})
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
	fmt.Print(describeMachine(o))
	for _, part := range []struct {
		name string
		run  func() error
	}{{"path", b.comparePath}, {"audit", b.auditCost}, {"plugin", b.plugin}, {"replicas", b.replicasCost}} {
		if o.only == "" || o.only == part.name {
			if err := part.run(); err != nil {
				return fmt.Errorf("%s: %w", part.name, err)
			}
		}
	}
	return nil
}

package cli

import (
	"io"
	"os"

	"github.com/spf13/cobra"
)

// Commands returns the tree of all commands, to describe them elsewhere. None of them is meant to be run.
func Commands() *cobra.Command {
	c := &commandLine{streams: streams{in: os.Stdin, out: io.Discard, err: io.Discard}, env: os.LookupEnv}
	return c.rootCommand()
}

// Fact is something that all commands share, for their manual: a name or number, and what it means.
type Fact struct{ Name, Meaning string }

// ExitStatuses are those of all commands.
func ExitStatuses() []Fact {
	return []Fact{
		{"0", "Success."},
		{"1", "The command failed, or a check did: the core is not ready, an instance does not work, a plugin does not conform."},
		{"2", "A mistake in the arguments, the flags or plugin.hcl."},
	}
}

// Environment are the variables that commands read.
func Environment() []Fact {
	return []Fact{
		{"PATCHBAY_CONFIG", "Path of the configuration file, if -config does not name one."},
		{"SVC_…", "Override single settings of plugin.hcl. The reference of settings lists them all, such as SVC_HTTP_ADDR."},
		{"OTEL_EXPORTER_OTLP_ENDPOINT", "Collector of traces. Unset: no traces."},
		{"GOGC", "Memory for speed, as in every Go program."},
	}
}

// Files are those that commands read and write.
func Files() []Fact {
	return []Fact{
		{"plugin.hcl", "The configuration: ./plugin.hcl, else /etc/patchbay/plugin.hcl."},
		{"plugin.lock.hcl", "The digests of third-party plugins, beside plugin.hcl."},
		{"data/", "The data directory, beside plugin.hcl unless data_dir says otherwise: the database, master.key, and the data of plugins."},
	}
}

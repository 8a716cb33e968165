package app

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/hashicorp/go-hclog"

	"github.com/patchbay-dev/patchbay/core/plugin/host"
	"github.com/patchbay-dev/patchbay/sdk/conformance"
	"github.com/patchbay-dev/patchbay/sdk/search"
)

// Conformance says which plugin to test, and how it is used.
type Conformance struct {
	// Path is the binary; Args follow it.
	Path string
	Args []string
	// Settings is the config block as JSON; empty for none.
	Settings string
	// Samples are bodies by operation. Every operation has one by itself; {} where the core does not know it.
	Samples map[string]string
	// Credential is a key for a plugin that needs one.
	Credential string
	// BaseDir is where relative paths in the settings start.
	BaseDir string
}

// TestPlugin starts a binary as the core would and runs the suites of its kinds. The text lists the checks; the error is
// nil if all passed.
func TestPlugin(ctx context.Context, c Conformance) (string, error) {
	path, err := filepath.Abs(c.Path)
	if err != nil {
		return "", err
	}
	h, err := host.New(host.Config{Logger: hclog.NewNullLogger(), PluginLogLevel: "trace"})
	if err != nil {
		return "", err
	}
	defer h.Close()
	p, err := h.Open(ctx, host.Spec{Name: filepath.Base(path), Path: path, Args: c.Args})
	if err != nil {
		return "", errors.New(host.Reason(err))
	}
	defer p.Release()
	link, err := p.Link()
	if err != nil {
		return "", err
	}
	for _, k := range link.Describe.GetKinds() {
		if k.GetService() != search.Service {
			continue
		}
		desc, err := search.ParseDescriptor(k)
		if err != nil {
			return "", fmt.Errorf("read the description of kind %s: %w", k.GetName(), err)
		}
		report := conformance.Search(ctx, link.Conn, conformance.SearchConfig{
			JSON: c.Settings, Samples: c.samples(desc), Credential: c.Credential, BaseDir: c.BaseDir,
			Logs: func() string { return strings.Join(p.Logs(), "\n") },
		})
		return report.String(), report.Err()
	}
	return "", fmt.Errorf("plugin %q offers no kind that this core can test", link.Describe.GetName())
}

// samples are the suite's own, with the bodies that were given.
func (c Conformance) samples(d *search.Descriptor) []conformance.Sample {
	out := conformance.DefaultSamples(d)
	for i := range out {
		if body, ok := c.Samples[out[i].Operation]; ok && !out[i].Stream {
			out[i].Body = body
		}
	}
	return out
}

// ReadSettings reads a config block as JSON from a file; an empty path is an empty block.
func ReadSettings(path string) (string, error) {
	if path == "" {
		return "", nil
	}
	raw, err := os.ReadFile(path)
	return string(raw), err
}

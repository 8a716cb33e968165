package app

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
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
	// Samples are bodies by operation. Operations that the core knows have one by themselves.
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
		samples, err := c.samples(desc)
		if err != nil {
			return "", err
		}
		report := conformance.Search(ctx, link.Conn, conformance.SearchConfig{
			JSON: c.Settings, Samples: samples, Credential: c.Credential, BaseDir: c.BaseDir,
			Logs: func() string { return strings.Join(p.Logs(), "\n") },
		})
		return report.String(), report.Err()
	}
	return "", fmt.Errorf("plugin %q offers no kind that this core can test", link.Describe.GetName())
}

// samples gives every operation of a plugin a call.
func (c Conformance) samples(d *search.Descriptor) ([]conformance.Sample, error) {
	known := map[string]string{
		search.OpSearch: `{"query":"patchbay"}`, search.OpExtract: `{"urls":["https://example.com/"]}`, search.OpCrawl: `{"url":"https://example.com/"}`,
		search.OpMap: `{"url":"https://example.com/"}`, search.OpResearch: `{"input":"patchbay"}`, search.OpResearchResult: "",
	}
	var out []conformance.Sample
	var missing []string
	for _, op := range d.Operations {
		body, ok := c.Samples[op.Name]
		if !ok {
			body, ok = known[op.Name]
		}
		if !ok {
			missing = append(missing, op.Name)
			continue
		}
		s := conformance.Sample{Operation: op.Name, Body: body}
		if op.Name == search.OpResearchResult {
			s.ResourceFrom = search.OpResearch
		}
		out = append(out, s)
	}
	if len(missing) > 0 {
		return nil, fmt.Errorf("give a sample body for each of the operations %s: -sample OPERATION=JSON", strings.Join(missing, ", "))
	}
	// A result can be asked for only after the call that makes it.
	slices.SortStableFunc(out, func(a, b conformance.Sample) int { return len(a.ResourceFrom) - len(b.ResourceFrom) })
	return out, nil
}

// ReadSettings reads a config block as JSON from a file; an empty path is an empty block.
func ReadSettings(path string) (string, error) {
	if path == "" {
		return "", nil
	}
	raw, err := os.ReadFile(path)
	return string(raw), err
}

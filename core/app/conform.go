package app

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/hashicorp/go-hclog"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/patchbay-dev/patchbay/core/plugin/host"
	"github.com/patchbay-dev/patchbay/sdk/codehost"
	"github.com/patchbay-dev/patchbay/sdk/conformance"
	"github.com/patchbay-dev/patchbay/sdk/engine"
	"github.com/patchbay-dev/patchbay/sdk/errs"
	"github.com/patchbay-dev/patchbay/sdk/notify"
	pluginv1 "github.com/patchbay-dev/patchbay/sdk/proto/patchbay/plugin/v1"
	"github.com/patchbay-dev/patchbay/sdk/registry"
	"github.com/patchbay-dev/patchbay/sdk/schema"
	"github.com/patchbay-dev/patchbay/sdk/search"
)

// Conformance says which plugin to test, and how it is used.
type Conformance struct {
	// Path is the binary; Args follow it.
	Path string
	Args []string
	// Settings is the config block as JSON; empty for none.
	Settings string
	// Samples are bodies by operation. Every operation has one by itself; {} where the core does not know it. That of the
	// name "target" is the recipient for a plugin of the kind notify, which really gets what is sent. With the kind
	// registry, "ref" is a reference to read and "platform" one that it has. With the kind codehost, "repo" is a
	// repository whose hooks may be changed and "owner" an account; Credential is the token. With the kind
	// engine, "compose_bin" is a compose command.
	Samples map[string]string
	// Credential is a key for a plugin that needs one; with the kind notify it is the target's secret.
	Credential string
	// Send, if not empty, is the text of one message that is sent instead of the suite; the kind is notify.
	Send string
	// Stderr gets what the plugin writes to its standard error; nil for nothing.
	Stderr io.Writer
	// BaseDir is where relative paths in the settings start.
	BaseDir string
}

// Names of samples besides those of operations.
const (
	sampleTarget   = "target"
	sampleRef      = "ref"
	samplePlatform = "platform"
	sampleRepo     = "repo"
	sampleOwner    = "owner"
	sampleCompose  = "compose_bin"
)

// TestPlugin starts a binary as the core would and runs the suites of its kinds. The text lists the checks; the error is
// nil if all passed.
func TestPlugin(ctx context.Context, c Conformance) (string, error) {
	path, err := filepath.Abs(c.Path)
	if err != nil {
		return "", err
	}
	h, err := host.New(host.Config{Logger: hclog.NewNullLogger(), PluginLogLevel: c.logLevel(), Output: c.Stderr})
	if err != nil {
		return "", err
	}
	defer h.Close()
	args, err := scripts(c.Args)
	if err != nil {
		return "", err
	}
	p, err := h.Open(ctx, host.Spec{Name: filepath.Base(path), Path: path, Args: args})
	if err != nil {
		return "", errors.New(host.Reason(err))
	}
	defer p.Release()
	link, err := p.Link()
	if err != nil {
		return "", err
	}
	if c.Send != "" {
		return c.sendMessage(ctx, p, link)
	}
	text, err := c.suites(ctx, link, func() string { return strings.Join(p.Logs(), "\n") })
	select {
	case <-link.Exited():
		return text, fmt.Errorf("%w: what failed after that says nothing about the plugin", ErrPluginCrashed)
	default:
		return text, err
	}
}

// ErrPluginCrashed is in the chain of the error about a plugin whose process ended by itself.
var ErrPluginCrashed = errors.New("the plugin's process ended by itself")

// logLevel is trace for the suite, which looks for secrets in all that a plugin writes.
func (c Conformance) logLevel() string {
	if c.Send != "" {
		return "info"
	}
	return "trace"
}

// sendMessage configures an instance and sends one message with it. The text tells what came of it.
func (c Conformance) sendMessage(ctx context.Context, p *host.Process, link *host.Link) (string, error) {
	if !slices.ContainsFunc(link.Describe.GetKinds(), func(k *pluginv1.Kind) bool { return k.GetService() == notify.Service }) {
		return "", fmt.Errorf("plugin %q sends no messages: it does not offer the kind %s", link.Describe.GetName(), notify.Kind)
	}
	settings := c.Settings
	if settings == "" {
		settings = "{}"
	}
	diags, err := p.Configure(ctx, &pluginv1.Config{InstanceId: "send", Kind: notify.Kind, Name: "send", Json: []byte(settings), BaseDir: c.BaseDir})
	if err != nil {
		return "", err
	}
	if diags.HasErrors() {
		return "", fmt.Errorf("the plugin refuses its settings: %s", diags.Error())
	}
	receipt, err := notify.NewClient(link.Conn, "send").Send(ctx, &notify.Notification{
		ID: "test-" + strings.ToLower(rand.Text()), Kind: "patchbay.test", Version: 1, SentAt: time.Now(), Title: notify.Text{Plain: c.Send}, Summary: notify.Text{Plain: c.Send},
	}, notify.Target{JSON: []byte(c.Samples[sampleTarget]), Secret: schema.Secret(c.Credential)})
	if err != nil {
		if status.Code(err) == codes.Unavailable && errs.From(err).Source == errs.Plugin {
			return "", fmt.Errorf("%w while it sent the message; whether it was delivered is not known", ErrPluginCrashed)
		}
		return "", fmt.Errorf("not delivered (%s): %w", notify.OutcomeOf(err), errs.From(err))
	}
	return fmt.Sprintf("delivered; ids of the message at the service: %s\n", strings.Join(receipt.MessageIDs, ", ")), nil
}

// scripts makes the arguments that are files absolute: a plugin starts in another directory than its author does.
func scripts(args []string) ([]string, error) {
	out := slices.Clone(args)
	for i, a := range args {
		info, err := os.Stat(a)
		if err != nil || !info.Mode().IsRegular() {
			continue
		}
		if out[i], err = filepath.Abs(a); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// suites runs the suite of each kind that the plugin offers. A suite stops the plugin's instances, not its process.
func (c Conformance) suites(ctx context.Context, link *host.Link, logs func() string) (string, error) {
	var text strings.Builder
	var failed []error
	for _, k := range link.Describe.GetKinds() {
		var report conformance.Report
		switch k.GetService() {
		case search.Service:
			desc, err := search.ParseDescriptor(k)
			if err != nil {
				return "", fmt.Errorf("read the description of kind %s: %w", k.GetName(), err)
			}
			report = conformance.Search(ctx, link.Conn, conformance.SearchConfig{
				JSON: c.Settings, Samples: c.samples(desc), Credential: c.Credential, BaseDir: c.BaseDir, Logs: logs,
			})
		case notify.Service:
			report = conformance.Notify(ctx, link.Conn, conformance.NotifyConfig{
				JSON: c.Settings, BaseDir: c.BaseDir, Logs: logs,
				Target: notify.Target{JSON: []byte(c.Samples[sampleTarget]), Secret: schema.Secret(c.Credential)},
			})
		case registry.Service:
			report = conformance.Registry(ctx, link.Conn, conformance.RegistryConfig{
				JSON: c.Settings, BaseDir: c.BaseDir, Logs: logs, Ref: c.Samples[sampleRef], Platform: c.Samples[samplePlatform],
			})
		case codehost.Service:
			report = conformance.CodeHost(ctx, link.Conn, c.codeHost(logs))
		case engine.Service:
			report = conformance.Engine(ctx, link.Conn, conformance.EngineConfig{
				JSON: c.Settings, BaseDir: c.BaseDir, Logs: logs, ComposeBin: c.Samples[sampleCompose],
			})
		default:
			continue
		}
		text.WriteString(report.String())
		failed = append(failed, report.Err())
	}
	if len(failed) == 0 {
		return "", fmt.Errorf("plugin %q offers no kind that this core can test", link.Describe.GetName())
	}
	return text.String(), errors.Join(failed...)
}

func (c Conformance) codeHost(logs func() string) conformance.CodeHostConfig {
	out := conformance.CodeHostConfig{
		JSON: c.Settings, BaseDir: c.BaseDir, Logs: logs, Token: schema.Secret(c.Credential), Repo: c.Samples[sampleRepo], Inputs: map[string]string{},
	}
	if out.Repo != "" {
		out.Inputs[out.Repo] = codehost.KindRepo
	}
	if owner := c.Samples[sampleOwner]; owner != "" {
		out.Inputs[owner] = codehost.KindOwner
	}
	return out
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

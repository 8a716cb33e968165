package admin

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
	"github.com/patchbay-dev/patchbay/sdk/errs"
	"github.com/patchbay-dev/patchbay/sdk/kinds"
	"github.com/patchbay-dev/patchbay/sdk/notify"
	pluginv1 "github.com/patchbay-dev/patchbay/sdk/proto/patchbay/plugin/v1"
)

// Conformance says which plugin to test, and how it is used.
type Conformance struct {
	// Path is the binary; Args follow it.
	Path string
	Args []string
	kinds.Use
	// Send, if not empty, is the text of one message that is sent instead of the suite; the kind is notify.
	Send string
	// Stderr gets what the plugin writes to its standard error; nil for nothing.
	Stderr io.Writer
}

// TestPlugin starts a binary as the core would and runs the suites of its kinds. The text lists the checks; the error is
// nil if all passed.
func TestPlugin(ctx context.Context, c Conformance) (string, error) {
	path, err := filepath.Abs(c.Path)
	if err != nil {
		return "", err
	}
	var output io.Writer
	if c.Stderr != nil {
		output = &logLines{to: c.Stderr}
	}
	h, err := host.New(host.Config{Logger: hclog.NewNullLogger(), PluginLogLevel: c.logLevel(), Output: output})
	if err != nil {
		return "", err
	}
	defer h.Close()
	args, err := absoluteScripts(c.Args)
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
	c.Logs = func() string { return strings.Join(p.Logs(), "\n") }
	text, err := kinds.Conform(ctx, link.Conn, link.Describe, c.Use)
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
	diags, err := p.Configure(ctx, &pluginv1.Config{InstanceId: "send", Kind: notify.Kind, Name: "send", Json: []byte(settings),
		BaseDir: c.BaseDir})
	if err != nil {
		return "", err
	}
	if diags.HasErrors() {
		return "", fmt.Errorf("the plugin refuses its settings: %s", diags.Error())
	}
	receipt, err := notify.NewClient(link.Conn, "send").Send(ctx, &notify.Notification{
		ID: "test-" + strings.ToLower(rand.Text()), Kind: "patchbay.test", Version: 1, SentAt: time.Now(), Title: notify.Text{Plain: c.Send},
		Summary: notify.Text{Plain: c.Send},
	}, c.Target())
	if err != nil {
		if isConnectionLost(ctx, err) {
			return "", fmt.Errorf("%w while it sent the message; whether it was delivered is not known", ErrPluginCrashed)
		}
		return "", fmt.Errorf("not delivered (%s): %w", notify.OutcomeOf(err), errs.From(err))
	}
	return fmt.Sprintf("delivered; ids of the message at the service: %s\n", strings.Join(receipt.MessageIDs, ", ")), nil
}

// isConnectionLost reports whether the connection to the plugin ended during a call. gRPC says Canceled, though the caller's ctx was
// not, if the host closed its side before the call noticed the end of the process.
func isConnectionLost(ctx context.Context, err error) bool {
	code := status.Code(err)
	return errs.From(err).Source == errs.Plugin && (code == codes.Unavailable || code == codes.Canceled && ctx.Err() == nil)
}

// absoluteScripts makes the arguments that are files absolute: a plugin starts in another directory than its author does.
func absoluteScripts(args []string) ([]string, error) {
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

// ReadSettings reads a config block as JSON from a file; an empty path is an empty block.
func ReadSettings(path string) (string, error) {
	if path == "" {
		return "", nil
	}
	raw, err := os.ReadFile(path)
	return string(raw), err
}

package host_test

import (
	"strings"
	"sync"
	"testing"

	"github.com/hashicorp/go-hclog"

	"github.com/patchbay-dev/patchbay/core/internal/testing/testplugin"
	"github.com/patchbay-dev/patchbay/core/plugin/host"
	"github.com/patchbay-dev/patchbay/sdk/search"
)

// safeBuilder is a strings.Builder for several goroutines.
type safeBuilder struct {
	mu sync.Mutex
	strings.Builder
}

func (b *safeBuilder) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.Builder.Write(p)
}

func (b *safeBuilder) text() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.String()
}

// TestPluginLinesAreEscaped has a plugin log what a terminal would obey: neither the core's log nor the lines that are kept have it.
func TestPluginLinesAreEscaped(t *testing.T) {
	var log safeBuilder
	h := testplugin.NewHost(t, func(c *host.Config) { c.Logger = hclog.New(&hclog.LoggerOptions{Output: &log, Level: hclog.Trace}) })
	p := start(t, h, testplugin.Spec(testplugin.Well))
	defer p.Release()
	c := caller(t, p, "a")
	reply, err := c.Invoke(t.Context(), &search.Request{Operation: testplugin.OpLog,
		Body: []byte("\"clear \\u001b[2J \\u009b2J \\u202e end\"")})
	must(t, err)
	reply.Release()
	eventually(t, func() bool { return strings.Contains(log.text(), "end") }, "the line is logged")
	if text := log.text(); strings.Contains(text, " timestamp=") ||
		!strings.Contains(text, "plugin."+testplugin.Spec(testplugin.Well).Name+": \"clear") {
		t.Errorf("the line has a second time, or not the name of the plugin alone:\n%s", text)
	}
	for what, text := range map[string]string{"the log": log.text(), "the lines": strings.Join(p.Logs(), "\n")} {
		if strings.ContainsAny(text, "\x1b\u009b\u202e") {
			t.Errorf("%s have %q", what, text)
		}
	}
	for text, want := range map[string]string{"a\tb 网关 é": "a\tb 网关 é", "\x1b[2J": `\x1b[2J`, "\u009b": `\u009b`,
		"\xff\n": `\xff\x0a`, "\u202e": `\u202e`} {
		if got := host.Printable(text); got != want {
			t.Errorf("%q is printed as %q, want %q", text, got, want)
		}
	}
}

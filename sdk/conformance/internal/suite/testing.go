package suite

import (
	"bytes"
	"sync"
	"testing"

	"github.com/hashicorp/go-hclog"
	"google.golang.org/grpc"

	"github.com/patchbay-dev/patchbay/sdk/conformance/report"
	"github.com/patchbay-dev/patchbay/sdk/framework"
	"github.com/patchbay-dev/patchbay/sdk/plugintest"
)

// ReportSubtests reports each check of a run as a subtest.
func ReportSubtests(t *testing.T, rep report.Report) {
	t.Helper()
	for _, res := range rep.Results {
		t.Run(res.Name(), func(t *testing.T) {
			if res.Skipped != "" {
				t.Attr("not-offered", res.Check)
				t.Skip(res.Skipped)
			}
			if res.Err != nil {
				t.Error(res.Err)
			}
		})
	}
}

// ServePlugin serves a plugin until the test ends and returns what it has logged.
func ServePlugin(t *testing.T, p framework.Plugin) (grpc.ClientConnInterface, func() string) {
	t.Helper()
	out := &buffer{}
	l := plugintest.LoadWith(t, p, hclog.New(&hclog.LoggerOptions{Output: out, Level: hclog.Trace}))
	return l.Conn, out.String
}

// buffer is a bytes.Buffer for several goroutines.
type buffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

// String is what was written so far.
func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

// Package plugintest loads a plugin inside a test, over a real gRPC connection and without a process of its own.
package plugintest

import (
	"context"
	"net"
	"path/filepath"
	"strconv"
	"sync/atomic"
	"testing"

	"github.com/hashicorp/go-hclog"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/patchbay-dev/patchbay/sdk/framework"
	pluginv1 "github.com/patchbay-dev/patchbay/sdk/proto/patchbay/plugin/v1"
	"github.com/patchbay-dev/patchbay/sdk/schema"
)

// Loaded is a plugin that is being served.
type Loaded struct {
	// Conn is the connection to it.
	Conn *grpc.ClientConn
	// Plugin is the base service.
	Plugin pluginv1.PluginClient

	next atomic.Int64
}

// Load serves p until the test ends. Its warnings and errors go to the test's log.
func Load(t testing.TB, p framework.Plugin) *Loaded {
	t.Helper()
	return LoadWith(t, p, hclog.New(&hclog.LoggerOptions{Output: testWriter{t}, Level: hclog.Warn}))
}

// LoadWith is Load with a logger of the caller's.
func LoadWith(t testing.TB, p framework.Plugin, log hclog.Logger) *Loaded {
	t.Helper()
	srv, err := framework.NewServer(p, log)
	if err != nil {
		t.Fatalf("load plugin: %v", err)
	}
	socket := filepath.Join(t.TempDir(), "p.sock")
	lis, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatalf("listen: %v", err)
	}
	g := srv.GRPC(nil)
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = g.Serve(lis)
	}()
	conn, err := grpc.NewClient("unix://"+socket, grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(framework.MaxMessage), grpc.MaxCallSendMsgSize(framework.MaxMessage)))
	if err != nil {
		t.Fatalf("dial: %v", err)
	}
	l := &Loaded{Conn: conn, Plugin: pluginv1.NewPluginClient(conn)}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), graceStop)
		defer cancel()
		_, _ = l.Plugin.Stop(ctx, &pluginv1.StopRequest{GraceMs: graceStop.Milliseconds()})
		_ = conn.Close()
		g.Stop()
		<-done
	})
	return l
}

// Config is a configuration for kind with the JSON of its config block. Data and base directories are the test's own.
func Config(t testing.TB, kind, name, json string) *pluginv1.Config {
	t.Helper()
	return &pluginv1.Config{
		Kind: kind, Name: name, Json: []byte(json), DataDir: t.TempDir(), BaseDir: t.TempDir(),
		Host: &pluginv1.Host{Version: "0.0.0", UserAgent: "patchbay-test"},
	}
}

// Configure makes an instance from c and returns its id; a diagnostic of the plugin fails the test.
func (l *Loaded) Configure(t testing.TB, c *pluginv1.Config) string {
	t.Helper()
	if c.InstanceId == "" {
		c.InstanceId = c.Name + "-" + strconv.FormatInt(l.next.Add(1), 10)
	}
	resp, err := l.Plugin.Configure(t.Context(), &pluginv1.ConfigureRequest{Config: c})
	if err != nil {
		t.Fatalf("configure %s: %v", c.Name, err)
	}
	if d := schema.DiagnosticsFromProto(resp.GetDiagnostics()); d.HasErrors() {
		t.Fatalf("configure %s: %v", c.Name, d.Error())
	}
	return c.InstanceId
}

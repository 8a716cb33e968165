package framework

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/go-plugin"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/encoding/protojson"

	"github.com/patchbay-dev/patchbay/sdk/tracing"
)

// Handshake is what host and plugin agree on before they speak gRPC. Kinds are versioned by their gRPC service names;
// this version stays 1.
func Handshake() plugin.HandshakeConfig {
	return plugin.HandshakeConfig{ProtocolVersion: 1, MagicCookieKey: cookieKey, MagicCookieValue: "patchbay-plugin-v1"}
}

const (
	gcPercent = 400
	cookieKey = "PATCHBAY_PLUGIN_COOKIE"
	// EnvLogLevel is the environment variable by which the host sets the level of a plugin's log.
	EnvLogLevel = "PATCHBAY_PLUGIN_LOG_LEVEL"
)

// stdout is the handshake's channel. From here until Serve, and for whatever writes to file descriptor 1 later, it
// leads to stderr, so that a stray print cannot break the handshake.
var stdout = guardStdout()

// Option adds to what Serve does.
type Option func(*options)

type options struct{ openTraces tracing.Open }

// WithTraces has the plugin make spans of the calls that the host traces, and send them as the variables OTEL_… say that the
// host passes on. open is otlp.Open of package sdk/tracing/otlp.
func WithTraces(open tracing.Open) Option { return func(o *options) { o.openTraces = open } }

// Serve runs the plugin and returns when the host ends it. It is all that main does. Started by hand it explains
// itself; with the one argument "describe" it prints what the plugin offers as JSON.
func Serve(p Plugin, opts ...Option) {
	log := hclog.New(&hclog.LoggerOptions{Level: logLevel(), Output: os.Stderr, JSONFormat: true})
	srv, err := NewServer(p, log)
	if err != nil {
		log.Error("plugin declaration is wrong", "error", err)
		os.Exit(1)
	}
	if len(os.Args) > 1 && os.Args[len(os.Args)-1] == "describe" {
		exitWithError(printDescription(stdout, srv))
	}
	if os.Getenv(cookieKey) != Handshake().MagicCookieValue {
		fmt.Fprintf(os.Stderr, "%s is a Patchbay plugin. The core starts it; name it in plugin.hcl, or run it with \"describe\".\n", p.Name)
		os.Exit(1)
	}
	// A plugin's live heap is small: at Go's default it would collect garbage several times a second under load.
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(gcPercent)
	}
	signal.Ignore(syscall.SIGTERM, syscall.SIGHUP)
	go watchParent(os.Getppid())
	os.Stdout = stdout
	var o options
	for _, set := range opts {
		set(&o)
	}
	srv.openTraces(o.openTraces)
	defer srv.closeTraces()
	plugin.Serve(&plugin.ServeConfig{
		HandshakeConfig: Handshake(),
		Plugins:         plugin.PluginSet{p.Name: declared{}},
		GRPCServer:      srv.GRPC,
		Logger:          log.Named("go-plugin"),
	})
}

// declared tells go-plugin that the process speaks gRPC; the services themselves are registered by Server.GRPC.
type declared struct{ plugin.NetRPCUnsupportedPlugin }

func (declared) GRPCServer(*plugin.GRPCBroker, *grpc.Server) error { return nil }

func (declared) GRPCClient(context.Context, *plugin.GRPCBroker, *grpc.ClientConn) (any, error) {
	return nil, errors.New("the host speaks to the services themselves")
}

func exitWithError(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

func logLevel() hclog.Level {
	if l := hclog.LevelFromString(os.Getenv(EnvLogLevel)); l != hclog.NoLevel {
		return l
	}
	return hclog.Info
}

func printDescription(w io.Writer, s *Server) error {
	raw, err := protojson.Marshal(s.describe)
	if err != nil {
		return err
	}
	var v any
	if err := json.Unmarshal(raw, &v); err != nil {
		return err
	}
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}

// watchParent ends the process when the host is gone, however that happened. At its first look it returns the memory that
// the start has used, as much again as a plugin without calls needs.
func watchParent(host int) {
	for first := true; ; first = false {
		time.Sleep(500 * time.Millisecond)
		if os.Getppid() != host {
			os.Exit(0)
		}
		if first {
			debug.FreeOSMemory()
		}
	}
}

// Stdout is the real standard output while it is guarded. Only a plugin that shakes hands by itself needs it.
func Stdout() *os.File { return stdout }

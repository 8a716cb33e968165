// Package testplugin is a search plugin that misbehaves on demand, for the tests of the host. A test binary turns
// itself into this plugin: Main in TestMain, Spec to start it.
package testplugin

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"

	"github.com/hashicorp/go-plugin"
	"google.golang.org/grpc/codes"

	"github.com/patchbay-dev/patchbay/core/plugin/host"
	"github.com/patchbay-dev/patchbay/sdk/errs"
	"github.com/patchbay-dev/patchbay/sdk/framework"
	"github.com/patchbay-dev/patchbay/sdk/schema"
	"github.com/patchbay-dev/patchbay/sdk/search"
)

const marker = "patchbay-testplugin"

// Modes of misbehaving before the plugin serves. Well is a plugin that behaves until an operation says otherwise.
const (
	Well         = "well"
	Garbage      = "garbage"
	Silent       = "silent"
	Exit         = "exit"
	WrongVersion = "wrong-version"
	WrongCookie  = "wrong-cookie"
	Noisy        = "noisy"
)

// Operations of the plugin.
const (
	OpEcho       = "search"
	OpPanic      = "panic"
	OpHang       = "hang"
	OpBig        = "big"
	OpCrash      = "crash"
	OpEnv        = "env"
	OpGrandchild = "grandchild"
	OpFail       = "fail"
)

// Spec starts the running test binary as the plugin in a mode.
func Spec(mode string) host.Spec {
	self, err := os.Executable()
	if err != nil {
		self = os.Args[0]
	}
	return host.Spec{Name: "testplugin", Path: self, Args: []string{marker, mode}}
}

// Main does not return if the process was started as the plugin.
func Main() {
	if len(os.Args) < 3 || os.Args[1] != marker {
		return
	}
	switch os.Args[2] {
	case Garbage:
		syscallWrite("this is no handshake\n")
		time.Sleep(time.Minute)
	case Silent:
		time.Sleep(time.Minute)
	case Exit:
		fmt.Fprintln(os.Stderr, "cannot go on")
		os.Exit(3)
	case WrongVersion:
		h := framework.Handshake()
		h.ProtocolVersion = 7
		os.Stdout = framework.Stdout()
		plugin.Serve(&plugin.ServeConfig{HandshakeConfig: h, Plugins: plugin.PluginSet{}, GRPCServer: plugin.DefaultGRPCServer})
	case WrongCookie:
		h := framework.Handshake()
		h.MagicCookieValue = "something else"
		plugin.Serve(&plugin.ServeConfig{HandshakeConfig: h, Plugins: plugin.PluginSet{}, GRPCServer: plugin.DefaultGRPCServer})
	case Noisy:
		fmt.Println("a print before the plugin serves")
	}
	framework.Serve(Plugin())
	os.Exit(0)
}

// syscallWrite writes past the guard of stdout, as a broken plugin without the SDK would.
func syscallWrite(text string) { _, _ = framework.Stdout().WriteString(text) }

// Config is the plugin's config block.
type Config struct {
	Answer string `patchbay:"answer,default=ok" doc:"What echo answers."`
	Reject bool   `patchbay:"reject,default=false" doc:"Refuse this configuration."`
}

// Plugin is the declaration.
func Plugin() framework.Plugin {
	def := search.Definition[Config]{
		Stream:    true,
		KeyStatus: true,
		Build: func(inst search.Instance, cfg Config) (search.Open, schema.Diagnostics) {
			if cfg.Reject {
				return nil, schema.Errorf(schema.At("reject"), "rejected as asked")
			}
			return func(context.Context) (search.Backend, error) { return &backend{cfg: cfg}, nil }, nil
		},
	}
	for _, op := range []string{OpEcho, OpPanic, OpHang, OpBig, OpCrash, OpEnv, OpGrandchild, OpFail} {
		def.Operations = append(def.Operations, search.Operation{Name: op, InputSchema: `{"type":"object"}`, Stream: op == OpEcho})
	}
	return framework.Plugin{Name: "testplugin", Version: "1.0.0", Kinds: []framework.Kind{search.New(def)}}
}

type backend struct{ cfg Config }

func (b *backend) Invoke(ctx context.Context, req *search.Request) (*search.Response, error) {
	switch req.Operation {
	case OpPanic:
		panic("as asked")
	case OpHang:
		<-ctx.Done()
		return nil, ctx.Err()
	case OpBig:
		return answer(make([]byte, 20<<20)), nil
	case OpCrash:
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
		select {}
	case OpEnv:
		raw, err := json.Marshal(os.Environ())
		return answer(raw), err
	case OpGrandchild:
		cmd := exec.Command("sleep", "60")
		if err := cmd.Start(); err != nil {
			return nil, err
		}
		return answer(fmt.Appendf(nil, "%d", cmd.Process.Pid)), nil
	case OpFail:
		return nil, errs.New(errs.Upstream, codes.Unavailable, errs.ReasonConnect, "no route to the upstream")
	}
	if len(req.Body) > 0 {
		return answer(append([]byte(nil), req.Body...)), nil
	}
	return answer([]byte(b.cfg.Answer)), nil
}

func answer(body []byte) *search.Response {
	return &search.Response{Head: search.Head{Status: 200, ContentType: "application/json"}, Body: body}
}

func (b *backend) Stream(ctx context.Context, req *search.Request, w search.StreamWriter) (*search.Usage, error) {
	if err := w.Start(&search.Head{Status: 200, ContentType: "text/event-stream"}); err != nil {
		return nil, err
	}
	for word := range strings.FieldsSeq(string(req.Body)) {
		if _, err := fmt.Fprintf(w, "data: %s\n\n", word); err != nil {
			return nil, err
		}
	}
	return &search.Usage{Credits: 3}, nil
}

func (b *backend) KeyStatus(_ context.Context, credential schema.Secret) (*search.KeyStatus, error) {
	return &search.KeyStatus{Key: search.KeyVerdict{State: search.KeyOK}, Plan: "test", Used: int64(len(credential.Reveal())), Limit: 100}, nil
}

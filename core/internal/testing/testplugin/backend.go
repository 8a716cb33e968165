package testplugin

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/hashicorp/go-hclog"
	"google.golang.org/grpc/codes"

	"github.com/patchbay-dev/patchbay/core/event"
	"github.com/patchbay-dev/patchbay/sdk/errs"
	"github.com/patchbay-dev/patchbay/sdk/schema"
	"github.com/patchbay-dev/patchbay/sdk/search"
)

type backend struct {
	wellbeing
	cfg     Config
	log     hclog.Logger
	hanging atomic.Int64
	// reindexed counts the calls of Reindex.
	reindexed atomic.Int64
}

// Invoke implements search.Backend.
func (b *backend) Invoke(ctx context.Context, req *search.Request) (*search.Response, error) {
	if text := string(req.Body); strings.Contains(text, FailAs) {
		return nil, endAs(ctx, strings.Trim(text, `"`))
	}
	switch req.Operation {
	case OpPanic:
		panic("as asked")
	case OpHang:
		return nil, b.hangCall(ctx)
	case OpHanging:
		return jsonResponse(fmt.Appendf(nil, "%d", b.hanging.Load())), nil
	case OpSlow:
		return b.answerSlowly(ctx, req)
	case OpBig:
		return jsonResponse(make([]byte, 20<<20)), nil
	case OpCrash:
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
		select {}
	case OpEnv:
		raw, err := json.Marshal(os.Environ())
		return jsonResponse(raw), err
	case OpGrandchild:
		return startGrandchild(string(req.Body) == BindToParent)
	case OpDaemon:
		return startDaemon()
	case OpFail:
		return nil, failAs()
	case OpPID:
		return jsonResponse(fmt.Appendf(nil, "%d", os.Getpid())), nil
	case OpLog:
		b.log.Warn(string(req.Body))
	}
	if len(req.Body) > 0 {
		return jsonResponse(append([]byte(nil), req.Body...)), nil
	}
	return jsonResponse([]byte(b.cfg.Answer)), nil
}

func (b *backend) hangCall(ctx context.Context) error {
	b.hanging.Add(1)
	defer b.hanging.Add(-1)
	<-ctx.Done()
	return ctx.Err()
}

func (b *backend) answerSlowly(ctx context.Context, req *search.Request) (*search.Response, error) {
	var text string
	if err := json.Unmarshal(req.Body, &text); err != nil {
		return nil, errs.BadInput("NO_DURATION", "the body is no string")
	}
	d, err := time.ParseDuration(text)
	if err != nil {
		return nil, errs.BadInput("NO_DURATION", "the body is no duration")
	}
	b.hanging.Add(1)
	defer b.hanging.Add(-1)
	if event.Sleep(ctx, d) != nil {
		return nil, ctx.Err()
	}
	return jsonResponse([]byte(b.cfg.Answer)), nil
}

func failAs() error {
	e := errs.Unavailable(errs.ReasonConnect, "no route to the upstream")
	e.Code, e.RetryAfter = codes.Unavailable, 7*time.Second
	return e
}

// startDaemon starts a process in a session of its own with the plugin's standard output and error.
func startDaemon() (*search.Response, error) {
	cmd := exec.Command("sleep", "60")
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	go func() { _ = cmd.Wait() }()
	return jsonResponse(fmt.Appendf(nil, "%d", cmd.Process.Pid)), nil
}

// startGrandchild starts a process. A process that is bound dies with the thread that started it, so that thread is kept.
func startGrandchild(bound bool) (*search.Response, error) {
	cmd := exec.Command("sleep", "60")
	if bound {
		bindToParent(cmd)
	}
	started := make(chan error)
	go func() {
		runtime.LockOSThread()
		started <- cmd.Start()
		_ = cmd.Wait()
	}()
	if err := <-started; err != nil {
		return nil, err
	}
	return jsonResponse(fmt.Appendf(nil, "%d", cmd.Process.Pid)), nil
}

func jsonResponse(body []byte) *search.Response {
	return &search.Response{Head: search.Head{Status: 200, ContentType: "application/json"}, Body: body}
}

// Stream implements search.Streamer: one event for each word of the body. The words "panic", "fail" and "hang" do what
// they say.
func (b *backend) Stream(ctx context.Context, req *search.Request, w search.StreamWriter) (*search.Usage, error) {
	if err := w.Start(&search.Head{Status: 200, ContentType: "text/event-stream"}); err != nil {
		return nil, err
	}
	for word := range strings.FieldsSeq(string(req.Body)) {
		switch word {
		case "panic":
			panic("as asked")
		case "fail":
			return nil, failAs()
		case "hang":
			return nil, b.hangCall(ctx)
		}
		if _, err := fmt.Fprintf(w, "data: %s\n\n", word); err != nil {
			return nil, err
		}
	}
	return &search.Usage{Credits: 3}, nil
}

// KeyStatus implements search.KeyChecker.
func (b *backend) KeyStatus(_ context.Context, credential schema.Secret) (*search.KeyStatus, error) {
	return &search.KeyStatus{Key: search.KeyVerdict{State: search.KeyOK}, Plan: "test", Used: int64(len(credential.Reveal())), Limit: 100}, nil
}

// Health implements framework.Healther.
func (b *backend) Health(ctx context.Context) error {
	if b.cfg.Unwell != "" {
		return errors.New(b.cfg.Unwell)
	}
	return b.wellbeing.Health(ctx)
}

// IndexStatus implements search.Indexer: the index has as many documents as Reindex was called.
func (b *backend) IndexStatus(context.Context) (*search.IndexStatus, error) {
	return &search.IndexStatus{Documents: b.reindexed.Load()}, nil
}

// Reindex implements search.Indexer.
func (b *backend) Reindex(context.Context) error {
	b.reindexed.Add(1)
	return nil
}

package admin

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/patchbay-dev/patchbay/core/internal/testing/testkit"
	"github.com/patchbay-dev/patchbay/core/internal/testing/testplugin"
	"github.com/patchbay-dev/patchbay/sdk/errs"
	"github.com/patchbay-dev/patchbay/sdk/kinds"
)

func TestMain(m *testing.M) {
	testplugin.Main()
	if path := os.Getenv(envBackup); path != "" {
		if _, err := Backup(context.Background(), source(path), filepath.Join(filepath.Dir(path), "backup.tar.gz"), true); err != nil {
			panic(err)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func conformanceOf(mode string) (Conformance, *testkit.Buffer) {
	spec, out := testplugin.Spec(mode), &testkit.Buffer{}
	return Conformance{Path: spec.Path, Args: spec.Args, Stderr: out, Use: kinds.Use{Samples: map[string]string{}}}, out
}

func TestPluginTestShowsStderr(t *testing.T) {
	c, out := conformanceOf(testplugin.Exit)
	if _, err := TestPlugin(t.Context(), c); err == nil || !strings.Contains(out.String(), "cannot go on") {
		t.Errorf("got %v, stderr %q", err, out)
	}
}

func TestPluginTestSendsOneMessage(t *testing.T) {
	for _, tc := range []struct{ do, text, err string }{
		{"deliver", "delivered; ids of the message at the service: test-", ""},
		{"gone", "", "not delivered (permanent): GONE: gone as asked"},
		{"busy", "", "not delivered (temporary): BUSY: busy as asked"},
		{"crash", "", ErrPluginCrashed.Error()},
	} {
		c, _ := conformanceOf(testplugin.Channel)
		c.Send, c.Samples["target"] = "hello", `{"do":"`+tc.do+`"}`
		text, err := TestPlugin(t.Context(), c)
		if !strings.HasPrefix(text, tc.text) || (err == nil) != (tc.err == "") || err != nil && !strings.Contains(err.Error(), tc.err) {
			t.Errorf("%s: %q, %v", tc.do, text, err)
		}
		if errors.Is(err, ErrPluginCrashed) != (tc.do == "crash") {
			t.Errorf("%s is taken for a crash or not: %v", tc.do, err)
		}
	}
	c, _ := conformanceOf(testplugin.Well)
	c.Send = "hello"
	if _, err := TestPlugin(t.Context(), c); err == nil || !strings.Contains(err.Error(), "sends no messages") {
		t.Errorf("a search plugin: %v", err)
	}
}

func TestPluginTestTellsACrash(t *testing.T) {
	c, _ := conformanceOf(testplugin.Channel)
	c.Samples["target"] = `{"do":"crash"}`
	if text, err := TestPlugin(t.Context(), c); !errors.Is(err, ErrPluginCrashed) {
		t.Errorf("got %v\n%s", err, text)
	}
}

func TestConnectionIsLost(t *testing.T) {
	ended, end := context.WithCancel(t.Context())
	end()
	closing := status.Error(codes.Canceled, "grpc: the client connection is closing")
	for name, tc := range map[string]struct {
		ctx  context.Context
		err  error
		want bool
	}{
		"the process ended":         {t.Context(), status.Error(codes.Unavailable, "EOF"), true},
		"the host closed its side":  {t.Context(), closing, true},
		"the caller gave up":        {ended, closing, false},
		"the service cannot be had": {t.Context(), errs.New(errs.Upstream, codes.Unavailable, "BUSY", "busy"), false},
		"the message was refused":   {t.Context(), errs.New(errs.Upstream, codes.InvalidArgument, "GONE", "gone"), false},
	} {
		if got := isConnectionLost(tc.ctx, tc.err); got != tc.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}

package catalog_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/patchbay-dev/patchbay/core/internal/testing/testkit"
	"github.com/patchbay-dev/patchbay/core/internal/testing/testplugin"
	"github.com/patchbay-dev/patchbay/core/plugin/catalog"
	"github.com/patchbay-dev/patchbay/sdk/search"
)

// The change is called off after one exclusive instance was replaced, while the next one waits for the end of a call.
func TestExclusiveInstancesComeBackWhenCalledOff(t *testing.T) {
	b, dir := newBench(t), t.TempDir()
	with := func(name, answer string) catalog.Desired {
		d := desired(name, testplugin.Exclusive, `{"answer":"`+answer+`"}`)
		d.DataDir = filepath.Join(dir, name)
		return d
	}
	b.apply(with("a", "old"), with("b", "old"))
	opened := func() time.Time {
		info, err := os.Stat(filepath.Join(dir, "a", "lock"))
		if err != nil {
			return time.Time{}
		}
		return info.ModTime()
	}
	before, old := opened(), b.search("search.b")
	hanging, release := context.WithCancel(context.Background())
	defer release()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_, _ = old.Invoke(hanging, &search.Request{Operation: testplugin.OpHang})
	}()
	testkit.Eventually(t, within, func() bool { n, err := ask(old, testplugin.OpHanging, ""); return err == nil && n == "1" },
		"the call is under way")
	change, err := b.prepare(with("a", "new"), with("b", "new"))
	if err != nil {
		t.Fatal(err)
	}
	ctx, callOff := context.WithCancel(context.Background())
	defer callOff()
	committed := make(chan error)
	go func() {
		_, err := change.Commit(ctx)
		committed <- err
	}()
	testkit.Eventually(t, within, func() bool { at := opened(); return !at.IsZero() && !at.Equal(before) }, "the first instance is replaced")
	callOff()
	release()
	<-ended
	if err := <-committed; err == nil {
		t.Error("a change that was called off succeeded")
	}
	b.wantAnswer(b.search("search.a"), "old")
	b.wantAnswer(b.search("search.b"), "old")
}

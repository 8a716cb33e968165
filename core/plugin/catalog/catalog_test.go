package catalog_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/patchbay-dev/patchbay/core/internal/testing/testkit"
	"github.com/patchbay-dev/patchbay/core/internal/testing/testplugin"
	"github.com/patchbay-dev/patchbay/core/plugin/catalog"
	"github.com/patchbay-dev/patchbay/core/plugin/client"
)

func TestUnchangedInstanceIsKept(t *testing.T) {
	b := newBench(t)
	b.apply(well("a", `{"answer":"one"}`), well("b", `{}`))
	s := b.search("search.a")
	a, pid := b.handle("search.a").Current(), b.pid(s)
	b.apply(well("a", `{"answer":"one"}`), well("b", `{"answer":"two"}`), well("c", `{}`))
	if now := b.handle("search.a").Current(); now != a {
		t.Error("an unchanged instance was replaced")
	}
	b.wantAnswer(s, "one")
	b.wantAnswer(b.search("search.b"), "two")
	if now := b.pid(s); now != pid {
		t.Error("the process was replaced")
	}
	var refs []string
	for _, in := range b.catalog.Instances() {
		refs = append(refs, in.Ref())
	}
	if strings.Join(refs, " ") != "search.a search.b search.c" {
		t.Errorf("instances %v", refs)
	}
	changed := well("a", `{"answer":"one"}`)
	changed.Timeout = time.Minute
	b.apply(changed)
	if b.handle("search.a").Current() == a {
		t.Error("another timeout is a change")
	}
	if got := len(a.Process().Status().Instances); got != 1 {
		t.Errorf("the process still has %d instances", got)
	}
}

func (b *bench) pid(s client.Search) string {
	b.t.Helper()
	pid, err := ask(s, testplugin.OpPID, "")
	if err != nil {
		b.t.Fatal(err)
	}
	return pid
}

func TestAbortChangesNothing(t *testing.T) {
	b := newBench(t)
	b.apply(well("a", `{"answer":"one"}`))
	s := b.search("search.a")
	change, err := b.prepare(well("a", `{"answer":"two"}`), well("b", `{}`))
	if err != nil {
		t.Fatal(err)
	}
	if h, err := change.Handle("search.b"); err != nil || h.Current() != nil {
		t.Errorf("the new handle before Commit: %v, %v", h, err)
	}
	if change.Instance("search.b") == nil || change.Instance("search.x") != nil {
		t.Error("the change does not know its instances")
	}
	b.wantAnswer(s, "one")
	change.Abort()
	b.wantAnswer(s, "one")
	if _, err := b.catalog.Handle("search.b"); err == nil {
		t.Error("an aborted instance is there")
	}
	if got := b.host.Statuses()[0].Instances; len(got) != 1 {
		t.Errorf("instances in the process: %v", got)
	}
}

func TestRejectedConfigurationLeavesTheOldSet(t *testing.T) {
	b := newBench(t)
	b.apply(well("a", `{"answer":"one"}`))
	s := b.search("search.a")
	for _, json := range []string{`{"reject":true}`, `{"reject_open":true}`, `{"unheard_of":1}`} {
		_, err := b.prepare(well("a", `{"answer":"two"}`), well("b", json), well("c", `{}`))
		var rejection *catalog.Rejection
		if !errors.As(err, &rejection) || rejection.Ref != "search.b" || !rejection.Diagnostics.HasErrors() ||
			!strings.Contains(err.Error(), "search.b is refused") {
			t.Fatalf("%s: got %v", json, err)
		}
	}
	b.wantAnswer(s, "one")
	if st := b.host.Statuses(); len(st) != 1 || len(st[0].Instances) != 1 {
		t.Errorf("left behind: %+v", st)
	}
}

func TestOptionalInstanceIsLeftOut(t *testing.T) {
	b := newBench(t)
	wanted := b.open([]catalog.Desired{well("a", `{}`), well("b", `{"reject_open":true}`)})
	wanted[1].Optional = true
	change, err := b.catalog.Prepare(context.Background(), wanted, "/")
	if err != nil {
		t.Fatal(err)
	}
	var rejection *catalog.Rejection
	if failed := change.Failed(); len(failed) != 1 || !errors.As(failed["search.b"], &rejection) {
		t.Errorf("left out: %v", failed)
	}
	if _, err := change.Commit(context.Background()); err != nil {
		t.Fatal(err)
	}
	b.wantAnswer(b.search("search.a"), "ok")
	if change, err = b.catalog.PrepareMore(context.Background(), b.open([]catalog.Desired{well("b", `{"answer":"late"}`)}), "/"); err != nil {
		t.Fatal(err)
	}
	if _, err := change.Commit(context.Background()); err != nil {
		t.Fatal(err)
	}
	b.wantAnswer(b.search("search.a"), "ok")
	b.wantAnswer(b.search("search.b"), "late")
}

func TestRemovedInstanceIsRetired(t *testing.T) {
	b := newBench(t)
	b.apply(well("a", `{}`), well("b", `{}`))
	s, h := b.search("search.b"), b.handle("search.b")
	b.apply(well("a", `{}`))
	if _, err := ask(s, testplugin.OpEcho, ""); !errors.Is(err, catalog.ErrRetired) {
		t.Errorf("got %v", err)
	}
	if _, err := s.Describe(); !errors.Is(err, catalog.ErrRetired) {
		t.Errorf("got %v", err)
	}
	if _, _, err := h.Acquire(context.Background()); !errors.Is(err, catalog.ErrRetired) {
		t.Errorf("got %v", err)
	}
	b.apply()
	if st := b.host.Statuses(); len(st) != 0 {
		t.Errorf("a process without instances is left: %+v", st)
	}
}

func TestAnotherServiceVersion(t *testing.T) {
	b := newBench(t)
	d := desired("a", testplugin.OtherService, `{}`)
	_, err := b.catalog.Open(context.Background(), d.Kind, d.Spec)
	want := `plugin "testplugin" offers patchbay.search.v9.Search; this core speaks patchbay.search.v1.Search for the kind "search"`
	if err == nil || err.Error() != want {
		t.Errorf("got %v", err)
	}
	if _, err := b.catalog.Open(context.Background(), "weather", testplugin.Spec(testplugin.Well)); err == nil ||
		!strings.Contains(err.Error(), `no kind "weather"`) {
		t.Errorf("got %v", err)
	}
	if _, err := b.catalog.Open(context.Background(), "other", testplugin.Spec(testplugin.Well)); err == nil ||
		!strings.Contains(err.Error(), "patchbay.other.v1.Other") {
		t.Errorf("got %v", err)
	}
	if st := b.host.Statuses(); len(st) != 0 {
		t.Errorf("left behind: %+v", st)
	}
}

func TestCandidateTellsAboutThePlugin(t *testing.T) {
	b := newBench(t)
	cand, err := b.catalog.Open(context.Background(), "search", testplugin.Spec(testplugin.Exclusive))
	if err != nil {
		t.Fatal(err)
	}
	defer cand.Close()
	s, err := cand.Schema()
	if err != nil || s.Attribute("answer") == nil {
		t.Errorf("schema %+v, %v", s, err)
	}
	if !cand.Has("EXCLUSIVE") || cand.Has("NONE") || cand.About().GetName() != "search" {
		t.Errorf("about %v", cand.About())
	}
	for json, ok := range map[string]bool{`{}`: true, `{"reject":true}`: false} {
		diags, err := b.catalog.Validate(context.Background(), cand, well("a", json), "/")
		if err != nil || diags.HasErrors() == ok {
			t.Errorf("%s: %v, %v", json, diags, err)
		}
	}
}

// load calls a backend from 16 goroutines until stop is called, which returns the number of calls and the first failure.
func load(s client.Search) (stop func() (int64, error)) {
	var calls atomic.Int64
	var failure atomic.Pointer[error]
	done := make(chan struct{})
	var wg sync.WaitGroup
	for range 16 {
		wg.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
				}
				if _, err := ask(s, testplugin.OpSlow, `"1ms"`); err != nil {
					failure.CompareAndSwap(nil, &err)
					return
				}
				calls.Add(1)
			}
		})
	}
	return func() (int64, error) {
		close(done)
		wg.Wait()
		if err := failure.Load(); err != nil {
			return calls.Load(), *err
		}
		return calls.Load(), nil
	}
}

func TestSwapUnderLoad(t *testing.T) {
	tests := []struct {
		name string
		make func(dir, answer string) catalog.Desired
	}{
		{"shared", func(_, answer string) catalog.Desired { return well("a", `{"answer":"`+answer+`"}`) }},
		{"another process", func(_, answer string) catalog.Desired {
			d := well("a", `{"answer":"`+answer+`"}`)
			d.Spec.Isolate = answer
			return d
		}},
		{"exclusive", func(dir, answer string) catalog.Desired {
			d := desired("a", testplugin.Exclusive, `{"answer":"`+answer+`"}`)
			d.DataDir = dir
			return d
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			b, dir := newBench(t), filepath.Join(t.TempDir(), "data")
			b.apply(tt.make(dir, "v0"))
			s := b.search("search.a")
			stop := load(s)
			for _, v := range []string{"v1", "v2", "v3", "v4", "v5", "v6"} {
				b.apply(tt.make(dir, v))
				b.wantAnswer(s, v)
			}
			calls, err := stop()
			if err != nil {
				t.Errorf("a call failed after %d: %v", calls, err)
			}
			if calls == 0 {
				t.Error("nothing was called")
			}
			if st := b.host.Statuses(); len(st) != 1 || len(st[0].Instances) != 1 {
				t.Errorf("left behind: %+v", st)
			}
		})
	}
}

func TestExclusiveInstanceComesBack(t *testing.T) {
	b, dir := newBench(t), t.TempDir()
	with := func(json string) catalog.Desired {
		d := desired("a", testplugin.Exclusive, json)
		d.DataDir = filepath.Join(dir, "data")
		return d
	}
	b.apply(with(`{"answer":"old"}`), well("b", `{"answer":"old"}`))
	if info, err := os.Stat(filepath.Join(dir, "data")); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("data directory: %v, %v", info, err)
	}
	s := b.search("search.a")
	// What is not exclusive does not change either when an exclusive instance cannot be opened.
	change, err := b.prepare(well("b", `{"answer":"new"}`), with(`{"answer":"new","reject_open":true}`))
	if err != nil {
		t.Fatal(err)
	}
	_, err = change.Commit(context.Background())
	var rejection *catalog.Rejection
	if !errors.As(err, &rejection) {
		t.Errorf("got %v", err)
	}
	b.wantAnswer(s, "old")
	b.wantAnswer(b.search("search.b"), "old")
	for _, st := range b.host.Statuses() {
		if len(st.Instances) != 1 {
			t.Errorf("left behind: %+v", st)
		}
	}
	b.apply(with(`{"answer":"new"}`))
	b.wantAnswer(s, "new")
}

func TestCallsWaitForTheirEndBeforeRetirement(t *testing.T) {
	b := newBench(t)
	b.apply(well("a", `{"answer":"old"}`))
	s := b.search("search.a")
	type result struct {
		body string
		err  error
	}
	done := make(chan result)
	go func() {
		body, err := ask(s, testplugin.OpSlow, `"300ms"`)
		done <- result{body, err}
	}()
	testkit.Eventually(t, within, func() bool { n, err := ask(s, testplugin.OpHanging, ""); return err == nil && n == "1" },
		"the call is under way")
	b.apply(well("a", `{"answer":"new"}`))
	if got := <-done; got.err != nil || got.body != "old" {
		t.Errorf("the old call: %+v", got)
	}
	b.wantAnswer(s, "new")
}

func TestCloseRetiresEverything(t *testing.T) {
	b := newBench(t)
	b.apply(well("a", `{}`))
	s := b.search("search.a")
	b.catalog.Close()
	if _, err := ask(s, testplugin.OpEcho, ""); !errors.Is(err, catalog.ErrRetired) {
		t.Errorf("got %v", err)
	}
	if len(b.catalog.Instances()) != 0 || len(b.host.Statuses()) != 0 {
		t.Error("something is left")
	}
}

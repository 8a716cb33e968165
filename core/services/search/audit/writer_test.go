package audit

import (
	"context"
	"fmt"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/patchbay-dev/patchbay/core/internal/testing/testkit"
	"github.com/patchbay-dev/patchbay/core/store"

	sdk "github.com/patchbay-dev/patchbay/sdk/search"
)

var midday = time.Date(2026, time.March, 15, 12, 0, 30, 0, time.UTC)

// openStore opens a database with the tables of the service.
func openStore(t *testing.T, cfg store.Config) *store.Store {
	t.Helper()
	return testkit.OpenStore(t, cfg, store.Migrations{Module: "search", FS: os.DirFS("../migrations")})
}

// startLog makes a log that writes.
func startLog(t *testing.T, st *store.Store) *Log {
	t.Helper()
	l := New(Config{Store: st, Logger: hclog.NewNullLogger(), Now: time.Now})
	if err := l.StartWriting(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(l.Close)
	return l
}

func flush(t *testing.T, l *Log) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	if err := l.Flush(ctx); err != nil {
		t.Fatal(err)
	}
}

// TestCommitWhoseAnswerWasLost: a batch that is tried again though it was written counts nothing twice.
func TestCommitWhoseAnswerWasLost(t *testing.T) {
	testkit.ForEachDialect(t, func(t *testing.T, cfg store.Config) {
		st := openStore(t, cfg)
		sql := newStatements(st.Dialect(), false)
		r := &Record{Entry: Entry{ID: 1, Time: midday, TokenID: "abcd", Operation: sdk.OpSearch}}
		write := func(again bool) {
			t.Helper()
			b := newBatch(1)
			b.addRecord(r)
			for _, again := range []bool{again, true, true} {
				if err := b.write(context.Background(), st, sql, nil, again); err != nil {
					t.Fatal(err)
				}
			}
		}
		write(false)
		r.written, r.Finished, r.Outcome, r.Credits = true, true, Success, 4
		write(false)
		var requests, credits int64
		err := st.DB(t.Context()).Raw("SELECT COUNT(*), SUM(credits) FROM search_requests WHERE outcome <> 3").Row().Scan(&requests, &credits)
		if err != nil || requests != 1 || credits != 4 {
			t.Errorf("%d rows with %d credits, %v", requests, credits, err)
		}
		err = st.DB(t.Context()).Raw("SELECT SUM(requests), SUM(credits) FROM quota_usage").Row().Scan(&requests, &credits)
		if err != nil || requests != 1 || credits != 4 {
			t.Errorf("%d requests with %d credits are counted, %v", requests, credits, err)
		}
	})
}

// TestBoundOfTheAudit: with the writer held up, requests wait at the bound, nothing is dropped, and all go on after it.
func TestBoundOfTheAudit(t *testing.T) {
	st := openStore(t, testkit.SQLiteConfig(t))
	l := startLog(t, st)
	began, end := make(chan struct{}), make(chan struct{})
	var once sync.Once
	unblock := func() { once.Do(func() { close(end) }) }
	defer unblock()
	go func() {
		_ = st.Tx(context.Background(), "test holds the writer", func(context.Context) error { close(began); <-end; return nil })
	}()
	<-began
	a := l.writer
	var wg sync.WaitGroup
	const workers = 8
	for w := range workers {
		wg.Go(func() {
			for range maxPending/workers + 100 {
				a.Begin(&Record{Entry: Entry{Time: midday, TokenID: fmt.Sprint("t", w), Outcome: Success}, Finished: true})
			}
		})
	}
	pending := func() int {
		a.mu.Lock()
		defer a.mu.Unlock()
		return len(a.pending) + a.writing
	}
	testkit.Eventually(t, 20*time.Second, func() bool { return pending() == maxPending }, "the bound")
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
	defer cancel()
	if err := l.Flush(ctx); err == nil {
		t.Error("flush cannot have been done")
	}
	unblock()
	wg.Wait()
	flush(t, l)
	var n int64
	if err := st.DB(context.Background()).Table("search_requests").Count(&n).Error; err != nil || n != maxPending+workers*100 {
		t.Errorf("%d rows, %v", n, err)
	}
}

// TestFlushEndsUnderLoad: flush waits for what was there, not for what comes.
func TestFlushEndsUnderLoad(t *testing.T) {
	l := startLog(t, openStore(t, testkit.SQLiteConfig(t)))
	stop := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
				l.writer.Begin(&Record{Entry: Entry{Time: midday, TokenID: "t", Outcome: Success}, Finished: true})
				time.Sleep(50 * time.Microsecond)
			}
		}
	})
	for range 5 {
		flush(t, l)
	}
	close(stop)
	wg.Wait()
}

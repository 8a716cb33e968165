package limit_test

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/patchbay-dev/patchbay/core/auth/limit"
)

func TestBucket(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	l, err := limit.New(limit.Config{Burst: 3, Every: 2 * time.Second, Now: func() time.Time { return now }})
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if _, ok := l.Take("a"); !ok {
			t.Fatal("the burst is not there")
		}
	}
	if wait, ok := l.Take("a"); ok || wait != 2*time.Second {
		t.Fatalf("got %v %v", wait, ok)
	}
	if _, ok := l.Take("b"); !ok {
		t.Fatal("another key is held up")
	}
	now = now.Add(time.Second)
	if wait, ok := l.Left("a"); ok || wait != time.Second {
		t.Fatalf("got %v %v", wait, ok)
	}
	now = now.Add(time.Second)
	if _, ok := l.Left("a"); !ok {
		t.Fatal("nothing became free")
	}
	if _, ok := l.Take("a"); !ok {
		t.Fatal("looking used the try up")
	}
	now = now.Add(-time.Hour)
	if _, ok := l.Take("a"); ok {
		t.Fatal("a clock that goes back frees a try")
	}
	now = now.Add(10 * time.Hour)
	for range 3 {
		if _, ok := l.Take("a"); !ok {
			t.Fatal("the bucket is not full again")
		}
	}
	if _, ok := l.Take("a"); ok {
		t.Fatal("the bucket holds more than its burst")
	}
}

func TestBounded(t *testing.T) {
	now := time.Now()
	l, err := limit.New(limit.Config{Burst: 2, Every: time.Minute, Keys: 100, Now: func() time.Time { return now }})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 10_000 {
		l.Take(fmt.Sprint(i))
		if n := l.Len(); n > 100 {
			t.Fatalf("%d buckets", n)
		}
	}
}

func TestConcurrentTakesAreExact(t *testing.T) {
	now := time.Now()
	l, err := limit.New(limit.Config{Burst: 50, Every: time.Hour, Now: func() time.Time { return now }})
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	var n atomic.Int64
	for range 8 {
		wg.Go(func() {
			for range 50 {
				if _, ok := l.Take("a"); ok {
					n.Add(1)
				}
			}
		})
	}
	wg.Wait()
	if n.Load() != 50 {
		t.Fatalf("%d were let through", n.Load())
	}
}

func TestRefusals(t *testing.T) {
	for _, c := range []limit.Config{{}, {Burst: 1}, {Every: 1}, {Burst: 1, Every: 1, Keys: -1}} {
		if _, err := limit.New(c); err == nil {
			t.Errorf("%+v is taken", c)
		}
	}
}

func TestClient(t *testing.T) {
	for in, want := range map[string]string{
		"192.0.2.1": "192.0.2.1", "::ffff:192.0.2.1": "192.0.2.1", "2001:db8:1:2:3:4:5:6": "2001:db8:1:2::/64",
		"fe80::1%eth0": "fe80::/64", "": "", "unix": "unix",
	} {
		if got := limit.Client(in); got != want {
			t.Errorf("%q: got %q", in, got)
		}
	}
}

package research_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/patchbay-dev/patchbay/plugins/internal/research"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// shelf is a library of texts by address.
type shelf struct {
	texts map[string]string
	order []string
	err   error
	hold  chan struct{}
	mu    sync.Mutex
	asked []research.Query
}

func (s *shelf) Find(ctx context.Context, q research.Query) ([]research.Source, error) {
	s.mu.Lock()
	s.asked = append(s.asked, q)
	s.mu.Unlock()
	if s.hold != nil {
		select {
		case <-s.hold:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	var out []research.Source
	for _, at := range s.order {
		out = append(out, research.Source{Title: "About " + at, URL: at, Content: "What the search shows about cranes of " + at + "."})
	}
	return out, s.err
}

func (s *shelf) Read(_ context.Context, at string) (string, error) {
	switch text := s.texts[at]; text {
	case "":
		return "", errors.New("gone")
	case "panic":
		panic("broken page")
	default:
		return text, nil
	}
}

func newService(t *testing.T, cfg research.Config) *research.Service {
	t.Helper()
	s, err := research.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

func start(t *testing.T, s *research.Service, input string) research.Report {
	t.Helper()
	r, err := s.Start(research.Task{Input: input, Model: "auto", Effort: research.Effort{Sources: 5, Passages: 2}})
	if err != nil || r.Status != research.Pending || r.ID == "" {
		t.Fatalf("got %+v, %v", r, err)
	}
	return r
}

func finished(t *testing.T, s *research.Service, id string) research.Report {
	t.Helper()
	for end := time.Now().Add(10 * time.Second); time.Now().Before(end); time.Sleep(time.Millisecond) {
		if r, ok := s.Get(id); ok && (r.Status == research.Completed || r.Status == research.Failed) {
			return r
		}
	}
	t.Fatal("the research does not end")
	return research.Report{}
}

var filler = strings.Repeat("Nothing of interest stands in this long paragraph about other matters entirely. ", 6)

func TestReport(t *testing.T) {
	lib := &shelf{order: []string{"https://a.example/", "https://b.example/x y", "https://c.example/", "https://d.example/"},
		texts: map[string]string{
			"https://a.example/": "# Harbour\n\n" + filler +
				"\n\nA crane lifts forty tonnes from the [quay](https://x.example/) when the wind is weak.\n\n" + filler,
			"https://b.example/x y": filler + "\n\n## Cranes\n\n" + strings.Repeat("Cranes stand at the quay. ", 10),
			"https://d.example/":    "panic",
		}}
	s := newService(t, research.Config{Library: lib, Log: nil})
	r := finished(t, s, start(t, s, "How much do cranes\nlift at the <quay>?").ID)
	if r.Status != research.Completed || r.Took < 0 {
		t.Fatalf("got %+v", r)
	}
	want := []research.Citation{
		{Title: "About https://a.example/", URL: "https://a.example/"}, {Title: "About https://b.example/x y", URL: "https://b.example/x y"},
		{Title: "About https://c.example/", URL: "https://c.example/"}, {Title: "About https://d.example/", URL: "https://d.example/"},
	}
	if diff := cmp.Diff(want, r.Sources); diff != "" {
		t.Error(diff)
	}
	for _, want := range []string{
		"# How much do cranes lift at the ‹quay›?\n", "4 sources", "> A crane lifts forty tonnes from the quay when", "> [1]\n", "> [4]\n",
		"\n## Sources\n",
		"2. [About https://b.example/x y](<https://b.example/x%20y>)", "> What the search shows about cranes of https://c.example/.",
	} {
		if !strings.Contains(r.Content, want) {
			t.Errorf("%q is missing in:\n%s", want, r.Content)
		}
	}
	if strings.Contains(r.Content, "x.example") {
		t.Errorf("marks of links are left in:\n%s", r.Content)
	}
}

func TestChinese(t *testing.T) {
	lib := &shelf{order: []string{"file:a.md"}, texts: map[string]string{
		"file:a.md": strings.Repeat("这一段说的是完全不同的事情，与问题没有任何关系。", 20) + "\n\n" + "插件崩溃以后，核心会立刻重新启动它，之后每次等待的时间越来越长，直到一分钟为止，其他服务照常继续运行，不会受到任何影响。",
	}}
	s := newService(t, research.Config{Library: lib})
	r := finished(t, s, start(t, s, "插件崩溃以后会怎样？").ID)
	if !strings.Contains(r.Content, "核心会立刻重新启动它") {
		t.Errorf("got:\n%s", r.Content)
	}
}

func TestQueries(t *testing.T) {
	lib := &shelf{}
	s := newService(t, research.Config{Library: lib})
	r := finished(t, s, start(t, s, "What is a crane? How much does a crane lift? Why? And who drives it at night? One more about the wind?").ID)
	var got []string
	for _, q := range lib.asked {
		got = append(got, q.Text)
	}
	want := []string{
		"What is a crane? How much does a crane lift? Why? And who drives it at night? One more about the wind?",
		"How much does a crane lift", "And who drives it at night", "One more about the wind",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if r.Status != research.Completed || len(r.Sources) != 0 || !strings.Contains(r.Content, "No source was found") {
		t.Errorf("got %+v", r)
	}
}

func TestFailure(t *testing.T) {
	s := newService(t, research.Config{Library: &shelf{err: errors.New("down")}})
	r := finished(t, s, start(t, s, "cranes").ID)
	if r.Status != research.Failed || r.Problem == "" || r.Content != "" {
		t.Errorf("got %+v", r)
	}
	s = newService(t, research.Config{Library: &shelf{hold: make(chan struct{})}, Timeout: 20 * time.Millisecond})
	if r := finished(t, s, start(t, s, "cranes").ID); r.Status != research.Failed {
		t.Errorf("got %+v", r)
	}
}

func TestKeeping(t *testing.T) {
	now, ids := time.Unix(1000, 0), 0
	var mu sync.Mutex
	lib := &shelf{order: []string{"https://a.example/"}, hold: make(chan struct{})}
	s := newService(t, research.Config{
		Library: lib, MaxKept: 2, Parallel: 1,
		NewID: func() string { ids++; return fmt.Sprint("id", ids) },
		Now: func() time.Time {
			mu.Lock()
			defer mu.Unlock()
			return now
		},
	})
	one, two := start(t, s, "one"), start(t, s, "two")
	if _, err := s.Start(research.Task{Input: "three"}); !errors.Is(err, research.ErrBusy) {
		t.Errorf("got %v", err)
	}
	close(lib.hold)
	finished(t, s, one.ID)
	finished(t, s, two.ID)
	three := start(t, s, "three")
	if _, ok := s.Get(one.ID); ok {
		t.Error("the oldest did not give way")
	}
	finished(t, s, three.ID)
	mu.Lock()
	now = now.Add(time.Hour)
	mu.Unlock()
	if _, ok := s.Get(three.ID); ok {
		t.Error("a report is kept for more than an hour")
	}
	if _, ok := s.Get("other"); ok {
		t.Error("a report that never was is found")
	}
}

func TestClose(t *testing.T) {
	s := newService(t, research.Config{Library: &shelf{hold: make(chan struct{})}, Parallel: 1})
	one, two := start(t, s, "one"), start(t, s, "two")
	s.Close()
	for _, id := range []string{one.ID, two.ID} {
		if r, ok := s.Get(id); !ok || r.Status != research.Failed {
			t.Errorf("got %+v", r)
		}
	}
	if _, err := s.Start(research.Task{Input: "three"}); err == nil {
		t.Error("a closed service began a research")
	}
	if _, err := research.New(research.Config{}); err == nil {
		t.Error("a service without a library was made")
	}
}

package containers

import (
	"bufio"
	"context"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/patchbay-dev/patchbay/core/auth"
	"github.com/patchbay-dev/patchbay/core/internal/testing/testkit"
	"github.com/patchbay-dev/patchbay/core/services/containers/candidate"
	"github.com/patchbay-dev/patchbay/core/services/containers/image"
	"github.com/patchbay-dev/patchbay/core/services/containers/project"
	"github.com/patchbay-dev/patchbay/core/services/containers/record"
	"github.com/patchbay-dev/patchbay/core/services/containers/work"
	"github.com/patchbay-dev/patchbay/core/store"
	"github.com/patchbay-dev/patchbay/sdk/engine"
)

// sseEvent is one event of a stream; a comment has neither id nor name.
type sseEvent struct {
	ID      int64
	Name    string
	Data    string
	Comment string
}

// stream is an open stream of events.
type stream struct {
	*env
	events chan sseEvent
	cancel context.CancelFunc
	done   chan struct{}
}

// open begins a stream that answers 200.
func (e *env) open(path string, header ...string) *stream {
	e.Helper()
	if e.base == "" {
		e.listen()
	}
	ctx, cancel := context.WithCancel(context.Background())
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, e.base+path, nil)
	e.must(err)
	req.Header.Set("X-Test-User", "ann")
	for i := 0; i+1 < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	resp, err := http.DefaultClient.Do(req)
	e.must(err)
	if resp.StatusCode != 200 || resp.Header.Get("Content-Type") != "text/event-stream" || resp.Header.Get("Cache-Control") != "no-cache" ||
		resp.Header.Get("X-Accel-Buffering") != "no" {
		e.Fatalf("%s: %d %v", path, resp.StatusCode, resp.Header)
	}
	s := &stream{env: e, events: make(chan sseEvent, 10_000), cancel: cancel, done: make(chan struct{})}
	go func() {
		defer close(s.done)
		defer close(s.events)
		defer func() { _ = resp.Body.Close() }()
		readEvents(bufio.NewReader(resp.Body), s.events)
	}()
	e.Cleanup(s.close)
	return s
}

func readEvents(r *bufio.Reader, to chan<- sseEvent) {
	var ev sseEvent
	for {
		line, err := r.ReadString('\n')
		if err != nil {
			return
		}
		line = strings.TrimSuffix(line, "\n")
		name, value, _ := strings.Cut(line, ": ")
		switch {
		case line == "":
			to <- ev
			ev = sseEvent{}
		case name == "":
			ev.Comment = value
		case name == "id":
			ev.ID, _ = strconv.ParseInt(value, 10, 64)
		case name == "event":
			ev.Name = value
		case name == "data":
			ev.Data += value
		}
	}
}

func (s *stream) close() { s.cancel(); <-s.done }

// next is the next event that is no comment; false at the end of the stream.
func (s *stream) next() (sseEvent, bool) {
	s.Helper()
	timeout := time.After(patience)
	for {
		select {
		case ev, open := <-s.events:
			if !open || ev.Comment == "" {
				return ev, open
			}
		case <-timeout:
			s.Fatal("no event comes")
		}
	}
}

// rest are the events up to the end of the stream.
func (s *stream) rest() (out []sseEvent) {
	s.Helper()
	for {
		ev, open := s.next()
		if !open {
			return out
		}
		out = append(out, ev)
	}
}

// take are the next n events.
func (s *stream) take(n int) (out []sseEvent) {
	s.Helper()
	for range n {
		ev, open := s.next()
		if !open {
			s.Fatalf("the stream ended after %d of %d events", len(out), n)
		}
		out = append(out, ev)
	}
	return out
}

// cutAnywhere cuts a stream after each of its events, goes on from there in each of the ways that a client has, and finds the rest of
// them, each once.
func (e *env) cutAnywhere(path string, all []sseEvent, read func(*stream, int) []sseEvent) {
	e.Helper()
	for i, ev := range all {
		id := strconv.FormatInt(ev.ID, 10)
		older := strconv.FormatInt(max(0, ev.ID-1), 10)
		want := all[i+1:]
		for name, open := range map[string]func() *stream{
			"header":        func() *stream { return e.open(path, "Last-Event-ID", id) },
			"query":         func() *stream { return e.open(path + "?afterId=" + id) },
			"larger header": func() *stream { return e.open(path+"?afterId="+older, "Last-Event-ID", id) },
			"larger query":  func() *stream { return e.open(path+"?afterId="+id, "Last-Event-ID", older) },
		} {
			s := open()
			if have := read(s, len(want)); fmt.Sprint(have) != fmt.Sprint(want) {
				e.Errorf("%s cut after event %s, %s: %s", path, id, name, cmp.Diff(want, have))
			}
			s.close()
		}
	}
}

// TestJobStreams: the events of jobs come at once, in order, and a client that was cut misses and repeats nothing.
func TestJobStreams(t *testing.T) {
	forEach(t, func(t *testing.T, e *env) {
		e.blog()
		e.listen()
		live := e.open("/api/jobs/events")
		if first := <-live.events; first.Comment == "" {
			t.Errorf("the first thing is %+v, not a comment", first)
		}
		before, err := e.queue.LastEventID(t.Context())
		e.must(err)
		entered, release := e.engine.Hold("pull")
		id, err := e.svc.Update(t.Context(), requestOf(e.serviceOf("blog", "web")))
		e.must(err)
		<-entered
		one := e.open("/api/jobs/" + id + "/events")
		release()
		own := one.rest()
		if len(own) < 5 || own[len(own)-1].Name != "job_status" || !strings.Contains(own[len(own)-1].Data, `"status":"success"`) {
			t.Fatalf("the events of the job are %+v", own)
		}
		for i, ev := range own {
			if ev.ID != int64(i+1) || !strings.Contains(ev.Data, `"jobId":"`+id) || ev.Name != "job_log" && ev.Name != "job_progress" &&
				ev.Name != "job_status" {
				t.Errorf("event %d is %+v", i+1, ev)
			}
		}
		all := live.take(len(own))
		live.close()
		for i, ev := range all {
			if ev.Name != "job_event" || ev.ID <= before || !strings.Contains(ev.Data, `"jobType":"update"`) || i > 0 && ev.ID <= all[i-1].ID {
				t.Errorf("event %d of all jobs is %+v", i, ev)
			}
		}
		e.cutAnywhere("/api/jobs/"+id+"/events", own, func(s *stream, _ int) []sseEvent { return s.rest() })
		e.cutAnywhere("/api/jobs/events", all, func(s *stream, n int) []sseEvent { return s.take(n) })
		if again := e.open("/api/jobs/" + id + "/events").rest(); !cmp.Equal(again, own) {
			t.Errorf("the stream of a job that has ended: %s", cmp.Diff(own, again))
		}
		if g := e.send("GET", "/api/jobs/job_none/events", ""); g.status != 404 || g.json["code"] != "not_found" {
			t.Errorf("an unknown job: %d %s", g.status, g.body)
		}
		if g := e.send("GET", "/api/services/"+unknownID+"/resource-usage/events", ""); g.status != 404 {
			t.Errorf("an unknown service: %d %s", g.status, g.body)
		}
	})
}

// TestStreamsRefuseCursors: a cursor that is no id of an event is an error that names it, and not the beginning.
func TestStreamsRefuseCursors(t *testing.T) {
	e := newEnv(t)
	e.blog()
	job, _ := e.checked()
	for _, path := range []string{"/api/jobs/events", "/api/jobs/" + job.ID + "/events", "/api/version-inference/events",
		"/api/host-packages/webhook/deliveries/events"} {
		header := e.raw("GET", path, "", "X-Test-User", "ann", "Last-Event-ID", "yesterday")
		query := e.send("GET", path+"?afterId=-1", "")
		for field, g := range map[string]got{"Last-Event-ID": header, "afterId": query} {
			if text, _ := g.json["message"].(string); g.status != 400 || g.json["code"] != "invalid_argument" || g.json["field"] != field ||
				!strings.Contains(text, "whole number") {
				t.Errorf("%s with %s: %d %s", path, field, g.status, g.body)
			}
		}
	}
}

// TestStreamOfAllJobsWhileTheyRun: a client that is cut again and again sees the same as one that stays.
func TestStreamOfAllJobsWhileTheyRun(t *testing.T) {
	e := newEnv(t)
	e.blog()
	after, err := e.queue.LastEventID(t.Context())
	e.must(err)
	stays := e.open("/api/jobs/events")
	<-stays.events
	ctx, stop := context.WithCancel(context.Background())
	var content sync.WaitGroup
	content.Go(func() {
		for ctx.Err() == nil {
			if id, err := e.svc.RuntimeScan(context.Background(), project.ScanRequest{Scope: work.ScopeAll}); err == nil {
				e.ended(id)
			}
		}
	})
	want := stays.take(40)
	stop()
	content.Wait()
	var have []sseEvent
	for len(have) < len(want) {
		s := e.open("/api/jobs/events", "Last-Event-ID", strconv.FormatInt(after, 10))
		part := s.take(min(1+len(have)%4, len(want)-len(have)))
		s.close()
		have, after = append(have, part...), part[len(part)-1].ID
	}
	if diff := cmp.Diff(want, have); diff != "" {
		t.Error(diff)
	}
}

// TestInferenceStream: the search for versions is followed from any event on; one that is no longer kept asks for a fresh look.
func TestInferenceStream(t *testing.T) {
	e := newEnv(t)
	live := e.open("/api/version-inference/events")
	<-live.events
	// The comment is written before the stream listens for news; the first event that is seen tells that it does.
	want := func(i int) {
		e.svc.FindVersion(image.Ref{Host: imageHost, Path: "acme/web", Tag: "1"}, digest(1000+i), record.Platform{OS: "linux", Arch: "amd64"},
			"missing")
	}
	for i := range 6 {
		want(i)
	}
	all := live.take(6)
	for i, ev := range all {
		if ev.ID != int64(i+1) || ev.Name != "version_inference_event" || !strings.Contains(ev.Data, `"type":"task_enqueued"`) {
			t.Errorf("event %d: %+v", i, ev)
		}
	}
	e.cutAnywhere("/api/version-inference/events", all, func(s *stream, n int) []sseEvent { return s.take(n) })
	for i := range candidate.RingSize + 1 {
		want(100 + i)
	}
	for _, cursor := range []string{"1", "999999999"} {
		s := e.open("/api/version-inference/events?afterId=" + cursor)
		if ev := s.take(1)[0]; !strings.Contains(ev.Data, `"type":"resync_required"`) {
			t.Errorf("after %s: %+v", cursor, ev)
		}
		want(10_000_000)
		s.close()
	}
}

// TestResourceStream: what was sampled lately comes first, then each sample as it is taken.
func TestResourceStream(t *testing.T) {
	e := newEnv(t)
	e.blog()
	ct := e.engine.ContainersOf("blog", "web")[0].ID
	e.engine.SetSample(engine.Sample{ContainerID: ct, SampledAt: e.now().UnixMilli(), HasCPU: true, CPUPercent: 12.5, MemUsed: 1000,
		MemLimit: 2000})
	ctx, cancel := context.WithCancel(context.Background())
	var wait sync.WaitGroup
	wait.Go(func() { e.svc.Usage.Run(ctx) })
	t.Cleanup(func() { cancel(); wait.Wait() })
	s := e.open("/api/services/" + e.serviceOf("blog", "web").ID + "/resource-usage/events")
	if ev := s.take(1)[0]; ev.Name != "resource_usage_snapshot" {
		t.Errorf("the first event is %+v", ev)
	}
	if ev := s.take(1)[0]; ev.Name != "resource_usage_tick" || !strings.Contains(ev.Data, `"cpuPercent":12.5`) {
		t.Errorf("the next event is %+v", ev)
	}
}

// TestRevokedReader: a reader who may read no more is cut with the next event, though the stream itself goes on.
func TestRevokedReader(t *testing.T) {
	testkit.ForEachDialect(t, func(t *testing.T, cfg store.Config) {
		st := testkit.OpenStore(t, cfg, append(allMigrations(), auth.Migrations())...)
		users, err := auth.New(auth.Config{Store: st, Keyring: keyring(t), Scopes: []string{"containers"}})
		if err != nil {
			t.Fatal(err)
		}
		e := newEnvOn(t, st, func(e *env) { e.guard = users.Guard(auth.Access{}) })
		_, key, err := users.Create(t.Context(), "a@example.com", "A", auth.Admin)
		e.must(err)
		_, _, err = users.Create(t.Context(), "b@example.com", "B", auth.Admin)
		e.must(err)
		e.blog()
		s := e.open("/api/jobs/events", "Authorization", "Bearer "+key)
		<-s.events
		e.must(users.Disable(t.Context(), "a@example.com"))
		testkit.Eventually(t, patience, func() bool {
			id, err := e.svc.Discover(context.Background())
			e.must(err)
			e.ended(id)
			select {
			case <-s.done:
				return true
			default:
				return false
			}
		}, "the reader is cut")
	})
}

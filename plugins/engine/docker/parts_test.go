package docker

import (
	"archive/tar"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/registry"
	"github.com/google/go-cmp/cmp"
	"google.golang.org/grpc/codes"

	"github.com/patchbay-dev/patchbay/sdk/engine"
	"github.com/patchbay-dev/patchbay/sdk/errs"
)

func TestProgress(t *testing.T) {
	p := newProgress()
	for _, step := range []struct {
		line string
		want engine.PullProgress
	}{
		{`{"status":"Pulling from demo/app","id":"1"}`, engine.PullProgress{Status: "Pulling from demo/app"}},
		{`{"status":"Pulling fs layer","progressDetail":{},"id":"a"}`,
			engine.PullProgress{TotalLayers: 1, Active: []engine.Layer{{ID: "a", Status: "Pulling fs layer"}}, Status: "Pulling from demo/app"}},
		{`{"status":"Already exists","progressDetail":{},"id":"b"}`,
			engine.PullProgress{TotalLayers: 2, CompletedLayers: 1, Active: []engine.Layer{{ID: "a", Status: "Pulling fs layer"}},
				Status: "Pulling from demo/app"}},
		{`{"status":"Downloading","progressDetail":{"current":10,"total":100},"id":"a"}`, engine.PullProgress{
			CurrentBytes: 10, TotalBytes: 100, TotalLayers: 2, CompletedLayers: 1, Status: "Pulling from demo/app",
			Active: []engine.Layer{{ID: "a", Status: "Downloading", CurrentBytes: 10, TotalBytes: 100}}}},
		{`{"status":"Retrying in 5 seconds","progressDetail":{},"id":"a"}`, engine.PullProgress{
			CurrentBytes: 10, TotalBytes: 100, TotalLayers: 2, CompletedLayers: 1, Status: "Pulling from demo/app",
			Active: []engine.Layer{{ID: "a", Status: "Retrying in 5 seconds", CurrentBytes: 10, TotalBytes: 100}}}},
		{`{"status":"Download complete","progressDetail":{},"id":"a"}`, engine.PullProgress{
			CurrentBytes: 100, TotalBytes: 100, TotalLayers: 2, CompletedLayers: 1, Status: "Pulling from demo/app",
			Active: []engine.Layer{{ID: "a", Status: "Download complete", CurrentBytes: 100, TotalBytes: 100}}}},
		{`{"status":"Extracting","progressDetail":{"current":5,"total":100},"id":"a"}`, engine.PullProgress{
			CurrentBytes: 100, TotalBytes: 100, TotalLayers: 2, CompletedLayers: 1, Status: "Pulling from demo/app",
			Active: []engine.Layer{{ID: "a", Status: "Extracting", CurrentBytes: 100, TotalBytes: 100}}}},
		{`{"status":"Pull complete","progressDetail":{},"id":"a"}`,
			engine.PullProgress{CurrentBytes: 100, TotalBytes: 100, TotalLayers: 2, CompletedLayers: 2, Status: "Pulling from demo/app"}},
		{`{"status":"Digest: sha256:1"}`, engine.PullProgress{CurrentBytes: 100, TotalBytes: 100, TotalLayers: 2, CompletedLayers: 2,
			Status: "Digest: sha256:1"}},
	} {
		var l pullLine
		if err := json.Unmarshal([]byte(step.line), &l); err != nil {
			t.Fatal(err)
		}
		p.addLine(&l)
		if diff := cmp.Diff(step.want, p.takeSnapshot()); diff != "" {
			t.Errorf("after %s: %s", step.line, diff)
		}
	}
}

func TestWatch(t *testing.T) {
	now := time.Unix(0, 0)
	d := &docker{now: func() time.Time { now = now.Add(50 * time.Millisecond); return now }}
	line := `{"status":"Downloading","progressDetail":{"current":1,"total":100},"id":"a"}`
	n := 0
	if err := d.watchPull(strings.NewReader(strings.Repeat(line, 100)), func(engine.PullProgress) error { n++; return nil }); err != nil ||
		n < 20 || n > 22 {
		t.Errorf("%d reports in 5 seconds, %v", n, err)
	}
	quiet := func(engine.PullProgress) error { return nil }
	var failed pullError
	if err := d.watchPull(strings.NewReader(line+`{"errorDetail":{"message":"no"},"error":"no"}`), quiet); !errors.As(err, &failed) ||
		failed != "no" {
		t.Errorf("an error within the stream: %v", err)
	}
	if err := d.watchPull(strings.NewReader(line+`{"status":`), quiet); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("a stream that is cut: %v", err)
	}
}

func TestRefusals(t *testing.T) {
	known := login{registry.AuthConfig{Username: "u", Password: "geheim-4711"}}
	for text, want := range map[string]struct {
		anonymous, known codes.Code
	}{
		"toomanyrequests: You have reached your pull rate limit.": {codes.ResourceExhausted, codes.ResourceExhausted},
		"received unexpected HTTP status: 429 Too Many Requests":  {codes.ResourceExhausted, codes.ResourceExhausted},
		"unauthorized: authentication required": {codes.Unauthenticated,
			codes.Unauthenticated},
		"Head http://h/v2/a/manifests/1: no basic auth credentials": {codes.Unauthenticated,
			codes.Unauthenticated},
		"pull access denied for a, repository does not exist or may require 'docker login': denied": {codes.Unauthenticated,
			codes.PermissionDenied},
		"manifest for h/a:1 not found: manifest unknown: manifest unknown": {codes.NotFound,
			codes.NotFound},
		"no matching manifest for linux/arm64 in the manifest list entries": {codes.NotFound,
			codes.NotFound},
		"failed to register layer: write /x: no space left on device": {codes.FailedPrecondition, codes.FailedPrecondition},
		"Get http://h/v2/: dial tcp 127.0.0.1:1: connect: connection refused": {codes.Unavailable,
			codes.Unavailable},
		"net/http: request canceled while waiting for connection (Client.Timeout exceeded while awaiting geheim-4711 )": {codes.Unavailable,
			codes.Unavailable},
	} {
		for _, tt := range []struct {
			l    login
			code codes.Code
		}{{login{}, want.anonymous}, {known, want.known}} {
			e := errs.From(tt.l.describeRefusal(context.Background(), "h/a:1", pullError(text)))
			if e.Code != tt.code || e.Source != errs.Upstream {
				t.Errorf("%s: %s of %s, want %s", text, e.Code, e.Source, tt.code)
			}
			if tt.l.hasCredentials() && strings.Contains(e.Error(), tt.l.Password) {
				t.Errorf("the password is in %v", e)
			}
		}
	}
}

func TestBelow(t *testing.T) {
	for name, want := range map[string]string{
		"data": "./", "data/": "./", "data/a": "a", "data/a/": "a/", "data/a/b": "a/b", "./data/a": "a", "/data/a": "a", "": "./",
		"data/../../x": "./",
	} {
		if got := withoutFirstPart(name); got != want {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
	}
}

func TestRerootLinks(t *testing.T) {
	var in, out bytes.Buffer
	w := tar.NewWriter(&in)
	for _, h := range []*tar.Header{
		{Typeflag: tar.TypeDir, Name: "data/", Mode: 0o755}, {Typeflag: tar.TypeReg, Name: "data/a", Mode: 0o644},
		{Typeflag: tar.TypeLink, Name: "data/b", Linkname: "data/a"}, {Typeflag: tar.TypeSymlink, Name: "data/c", Linkname: "data/a"},
	} {
		if err := w.WriteHeader(h); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(w.Close(), stripBaseName(tar.NewReader(&in), &out, false)); err != nil {
		t.Fatal(err)
	}
	var got []string
	for r := tar.NewReader(&out); ; {
		h, err := r.Next()
		if err != nil {
			break
		}
		got = append(got, h.Name+">"+h.Linkname)
	}
	if diff := cmp.Diff([]string{"./>", "a>", "b>a", "c>data/a"}, got); diff != "" {
		t.Error(diff)
	}
}

func TestLines(t *testing.T) {
	var got []engine.Line
	out := &output{send: func(l engine.Line) error { got = append(got, l); return nil }}
	a, b := &lines{out: out}, &lines{out: out, stderr: true}
	for _, s := range []string{"one\ntw", "o\r\n\n", "\x1b[2K\x1b[1Amoved\n", strings.Repeat("x", 20000)} {
		_, _ = io.WriteString(a, s)
	}
	_, _ = io.WriteString(b, "bad \xff byte")
	a.flushLine()
	b.flushLine()
	want := []engine.Line{{Text: "one"}, {Text: "two"}, {Text: "moved"}, {Text: strings.Repeat("x", maxLine) + "…"}}
	if diff := cmp.Diff(want, got[:4]); diff != "" {
		t.Error(diff)
	}
	if last := got[len(got)-1]; last != (engine.Line{Stderr: true, Text: "bad ? byte"}) {
		t.Errorf("%+v", last)
	}
	if tail := out.lastLines(); len(tail) > maxTail || !strings.HasSuffix(tail, "bad ? byte\n") {
		t.Errorf("a tail of %d bytes: %q", len(tail), tail[len(tail)-20:])
	}
	failing := &output{send: func(engine.Line) error { return io.ErrClosedPipe }, stop: func(err error) { got = nil }}
	_, _ = io.WriteString(&lines{out: failing}, "a\nb\n")
	if got != nil {
		t.Error("a failing receiver does not stop the command")
	}
}

func TestUsage(t *testing.T) {
	u, start := newUsage(), time.Unix(1000, 0)
	at := func(seconds int, nanos uint64) (float64, bool) {
		return u.cpuPercent("a", counter{nanos: nanos, at: start.Add(time.Duration(seconds) * time.Second)})
	}
	for i, step := range []struct {
		seconds int
		nanos   uint64
		want    float64
		has     bool
	}{
		{0, 5e9, 0, false}, {10, 10e9, 50, true}, {20, 30e9, 200, true}, {20, 30e9, 0, false}, {30, 1e9, 0, false}, {40, 1e9, 0, true},
	} {
		if got, has := at(step.seconds, step.nanos); got != step.want || has != step.has {
			t.Errorf("step %d: %v, %v", i, got, has)
		}
	}
	u.forgetBefore(start.Add(time.Hour))
	if len(u.last) != 0 {
		t.Error("nothing is forgotten")
	}
}

func TestMeasure(t *testing.T) {
	d := &docker{usage: newUsage()}
	raw := `{"read":"2026-01-02T03:04:05.006Z","pids_stats":{"current":3},"blkio_stats":{"io_service_bytes_recursive":[
		{"op":"Read","value":1},{"op":"write","value":2},{"op":"Read","value":4},{"op":"Total","value":99}]},
		"memory_stats":{"usage":100,"limit":1000,"stats":{"inactive_file":30}},"networks":{"a":{"rx_bytes":1,"tx_bytes":2},"b":{"rx_bytes":10,"tx_bytes":20}}}`
	var s container.StatsResponse
	if err := json.Unmarshal([]byte(raw), &s); err != nil {
		t.Fatal(err)
	}
	want := engine.Sample{
		ContainerID: "c", SampledAt: 1767323045006, MemUsed: 70, MemLimit: 1000, NetRx: 11, NetTx: 22, HasBlock: true, BlockRead: 5,
		BlockWrite: 2, PIDs: 3,
	}
	if diff := cmp.Diff(want, d.toSample("c", &s)); diff != "" {
		t.Error(diff)
	}
	s = container.StatsResponse{}
	if err := json.Unmarshal([]byte(`{"read":"2026-01-02T03:04:05Z","blkio_stats":{"io_service_bytes_recursive":null},"memory_stats":{}}`),
		&s); err != nil {
		t.Fatal(err)
	}
	if got := d.toSample("d", &s); got.HasBlock || got.MemUsed != 0 {
		t.Errorf("%+v", got)
	}
}

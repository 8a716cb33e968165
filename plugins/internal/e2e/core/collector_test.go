package core

import (
	"compress/gzip"
	"encoding/hex"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	collectorv1 "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	commonv1 "go.opentelemetry.io/proto/otlp/common/v1"
	tracev1 "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/encoding/prototext"
	"google.golang.org/protobuf/proto"

	"github.com/patchbay-dev/patchbay/plugins/internal/e2e/kit"
)

// span is what tests read of a span.
type span struct {
	service, name      string
	trace, id, parent  string
	links              []string
	kind               tracev1.Span_SpanKind
	failed             bool
	attributes         map[string]string
	resource           map[string]string
	started, completed time.Time
}

// collector receives spans by OTLP over HTTP, as a collector of OpenTelemetry does.
type collector struct {
	t           testing.TB
	url         string
	connections atomic.Int64

	mu    sync.Mutex
	spans []span
	// said is all that was received, as text.
	said strings.Builder
	// header is that of the last request.
	header http.Header
}

// startCollector runs a collector until the test ends.
func startCollector(t testing.TB) *collector {
	t.Helper()
	k := &collector{t: t}
	server := httptest.NewUnstartedServer(http.HandlerFunc(k.receive))
	server.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			k.connections.Add(1)
		}
	}
	server.Start()
	t.Cleanup(server.Close)
	k.url = server.URL
	return k
}

// env returns the variables by which a core sends its spans here, soon after they have ended.
func (k *collector) env(more ...string) []string {
	return append([]string{"OTEL_EXPORTER_OTLP_ENDPOINT=" + k.url, "OTEL_BSP_SCHEDULE_DELAY=50"}, more...)
}

func (k *collector) receive(w http.ResponseWriter, r *http.Request) {
	body := io.Reader(r.Body)
	if r.Header.Get("Content-Encoding") == "gzip" {
		unpacked, err := gzip.NewReader(r.Body)
		if err != nil {
			k.t.Errorf("the collector gets no gzip: %v", err)
			return
		}
		body = unpacked
	}
	raw, err := io.ReadAll(body)
	var req collectorv1.ExportTraceServiceRequest
	if err != nil || r.URL.Path != "/v1/traces" || proto.Unmarshal(raw, &req) != nil {
		k.t.Errorf("the collector gets no spans at %s: %v", r.URL.Path, err)
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.header = r.Header.Clone()
	k.said.WriteString(prototext.Format(&req))
	for _, of := range req.ResourceSpans {
		resource := attributesOf(of.Resource.Attributes)
		for _, scope := range of.ScopeSpans {
			for _, s := range scope.Spans {
				k.spans = append(k.spans, readSpan(s, resource))
			}
		}
	}
	w.Header().Set("Content-Type", "application/x-protobuf")
}

func readSpan(s *tracev1.Span, resource map[string]string) span {
	out := span{
		service: resource["service.name"], name: s.Name, kind: s.Kind, resource: resource, attributes: attributesOf(s.Attributes),
		trace: hex.EncodeToString(s.TraceId), id: hex.EncodeToString(s.SpanId), parent: hex.EncodeToString(s.ParentSpanId),
		failed:  s.Status.GetCode() == tracev1.Status_STATUS_CODE_ERROR,
		started: time.Unix(0, int64(s.StartTimeUnixNano)), completed: time.Unix(0, int64(s.EndTimeUnixNano)),
	}
	for _, l := range s.Links {
		out.links = append(out.links, hex.EncodeToString(l.TraceId))
	}
	return out
}

func attributesOf(list []*commonv1.KeyValue) map[string]string {
	out := map[string]string{}
	for _, kv := range list {
		out[kv.Key] = kv.Value.GetStringValue()
		if out[kv.Key] == "" {
			out[kv.Key] = prototext.MarshalOptions{}.Format(kv.Value)
		}
	}
	return out
}

// find returns the spans for which a function holds, in the order of their beginnings.
func (k *collector) find(holds func(span) bool) (found []span) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, s := range k.spans {
		if holds(s) {
			found = append(found, s)
		}
	}
	slices.SortFunc(found, func(a, b span) int { return a.started.Compare(b.started) })
	return found
}

// forget drops what was received, but for its text.
func (k *collector) forget() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.spans = nil
}

// text returns all that was ever received.
func (k *collector) text() string {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.said.String()
}

// trace waits for the trace of the request whose span has a name, and returns its spans. They are a chain: each is the parent of the next.
func (k *collector) trace(name string, length int) (chain []span) {
	k.t.Helper()
	kit.Eventually(k.t, 10*time.Second, "the trace of "+name+" is whole", func() bool {
		first := k.find(func(s span) bool { return s.name == name })
		if len(first) == 0 {
			return false
		}
		chain = k.find(func(s span) bool { return s.trace == first[0].trace })
		return len(chain) >= length
	})
	if len(chain) != length {
		k.t.Errorf("the trace of %s has %d spans, want %d: %+v", name, len(chain), length, chain)
	}
	for i := 1; i < len(chain); i++ {
		if chain[i].parent != chain[i-1].id {
			k.t.Errorf("the parent of %q is not %q", chain[i].name, chain[i-1].name)
		}
	}
	return chain
}

package replicas

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/patchbay-dev/patchbay/plugins/internal/e2e/kit"
)

// arrival is a message that a stream told.
type arrival struct {
	subject string
	at      time.Time
}

// TestStreams follows the mail of three cores at each of them: all streams tell the same messages in the same order.
func TestStreams(t *testing.T) {
	cores := startCores(t, newSetup(t), 3)
	box := cores[0].CLI("mailbox", "create")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	clients, mails := choose(200, 12), choose(10_000, 300)
	streams, open := make([][]arrival, clients), sync.WaitGroup{}
	for i := range clients {
		resp := openStream(t, ctx, cores[i%3], "/mail/api/messages/events?mailbox="+box)
		open.Go(func() { streams[i] = readArrivals(t, resp, mails) })
	}
	sent := sendMails(t, cores, box, mails)
	open.Wait()
	order := subjectsOf(streams[0])
	var delays []time.Duration
	for i, got := range streams {
		if !slices.Equal(subjectsOf(got), order) {
			t.Fatalf("stream %d tells %d messages in another order than stream 0, which tells %d", i, len(got), len(order))
		}
		for _, a := range got {
			delays = append(delays, a.at.Sub(sent[a.subject]))
		}
	}
	if len(order) != mails || len(slices.Compact(slices.Sorted(slices.Values(order)))) != mails {
		t.Errorf("%d messages of %d", len(order), mails)
	}
	slices.Sort(delays)
	t.Logf("from the acknowledgement to the event: median %s, 99 of 100 within %s", delays[len(delays)/2], delays[len(delays)*99/100])
}

func openStream(t *testing.T, ctx context.Context, c *kit.Core, path string) *http.Response {
	t.Helper()
	req, err := c.Build(kit.Request{Method: http.MethodGet, Path: path})
	kit.Must(t, err)
	resp, err := http.DefaultClient.Do(req.WithContext(ctx))
	kit.Must(t, err)
	t.Cleanup(func() { _ = resp.Body.Close() })
	if resp.StatusCode != http.StatusOK {
		t.Fatalf("open a stream: %d", resp.StatusCode)
	}
	return resp
}

// readArrivals reads messages of a stream.
func readArrivals(t *testing.T, resp *http.Response, count int) (out []arrival) {
	lines := bufio.NewScanner(resp.Body)
	lines.Buffer(nil, 1<<20)
	for len(out) < count && lines.Scan() {
		data, is := strings.CutPrefix(lines.Text(), "data: ")
		if !is {
			continue
		}
		var m struct{ Subject string }
		if err := json.Unmarshal([]byte(data), &m); err != nil {
			t.Errorf("%s: %v", data, err)
			return out
		}
		out = append(out, arrival{m.Subject, time.Now()})
	}
	return out
}

func subjectsOf(all []arrival) (subjects []string) {
	for _, a := range all {
		subjects = append(subjects, a.subject)
	}
	return subjects
}

// sendMails hands mails to all cores at once, and returns when each was acknowledged.
func sendMails(t *testing.T, cores []*kit.Core, box string, count int) map[string]time.Time {
	t.Helper()
	var (
		senders sync.WaitGroup
		mu      sync.Mutex
		sent    = map[string]time.Time{}
	)
	for i := range 6 {
		senders.Go(func() {
			for n := i; n < count; n += 6 {
				subject := fmt.Sprintf("mail-%d", n)
				if err := sendMail(cores[n%3], box, subject); err != nil {
					t.Error(err)
					return
				}
				mu.Lock()
				sent[subject] = time.Now()
				mu.Unlock()
			}
		})
	}
	senders.Wait()
	return sent
}

// TestMCP speaks MCP through a proxy that sends each request to another core.
func TestMCP(t *testing.T) {
	cores := startCores(t, newSetup(t), 3)
	token := knownToken(t, cores)
	front := startNginx(t, cores)
	client := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil)
	session, err := client.Connect(t.Context(), &mcp.StreamableClientTransport{Endpoint: front.Base + "/search/mcp?tavilyApiKey=" + token}, nil)
	kit.Must(t, err)
	for range 6 {
		tools, err := session.ListTools(t.Context(), nil)
		kit.Must(t, err)
		if len(tools.Tools) == 0 {
			t.Error("no tools")
		}
		found, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: "search", Arguments: map[string]any{"query": "plugin"}})
		kit.Must(t, err)
		if found.IsError || len(found.Content) == 0 {
			t.Errorf("%+v", found)
		}
	}
	kit.Must(t, session.Close())
}

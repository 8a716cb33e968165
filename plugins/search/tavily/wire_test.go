package tavily_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/patchbay-dev/patchbay/plugins/search/tavily"
	"github.com/patchbay-dev/patchbay/plugins/search/tavily/tavilytest"
	"github.com/patchbay-dev/patchbay/sdk/errs"
	"github.com/patchbay-dev/patchbay/sdk/plugintest"
	"github.com/patchbay-dev/patchbay/sdk/search"
)

// TestOverTheWire calls the plugin as the host does, over pooled streams and unary calls.
func TestOverTheWire(t *testing.T) {
	fake := tavilytest.New(tavilytest.Config{Keys: []string{key}})
	srv := httptest.NewServer(fake)
	defer srv.Close()
	defer fake.Close()
	loaded := plugintest.Load(t, tavily.Plugin())
	id := loaded.Configure(t, plugintest.Config(t, search.Kind, "web", fmt.Sprintf(`{"base_url":%q}`, srv.URL)))
	for _, streams := range []int{8, -1} {
		client := search.NewClient(loaded.Conn, id, streams)
		var all sync.WaitGroup
		for i := range 64 {
			all.Go(func() { checkEcho(t, client, fmt.Sprintf("question-%d.", i)) })
		}
		all.Wait()
		fake.Script(tavilytest.Answer{Fault: tavilytest.FaultReset}, tavilytest.Answer{Status: 432})
		_, err := client.Invoke(t.Context(), request(search.OpSearch, `{"query":"q"}`))
		if e := errs.From(err); e == nil || e.Reason != errs.ReasonLost || e.Source != errs.Upstream {
			t.Errorf("%d streams: got %v", streams, err)
		}
		reply, err := client.Invoke(t.Context(), request(search.OpSearch, `{"query":"q"}`))
		if err != nil || reply.Status != 432 || reply.Key.State != search.KeyExhausted || reply.Usage != nil {
			t.Errorf("%d streams: got %+v, %v", streams, reply, err)
		}
		checkStream(t, client)
		st, err := client.KeyStatus(t.Context(), key)
		if err != nil || st.Limit != 1000 || st.Used == 0 {
			t.Errorf("%d streams: key status %+v, %v", streams, st, err)
		}
		_ = client.Close()
	}
}

// checkEcho tells an answer that belongs to another call.
func checkEcho(t *testing.T, client *search.Client, question string) {
	reply, err := client.Invoke(t.Context(), request(search.OpSearch, fmt.Sprintf(`{"query":%q}`, question)))
	if err != nil {
		t.Error(err)
		return
	}
	defer reply.Release()
	if !bytes.Contains(reply.Body, []byte(question)) || reply.Usage == nil || reply.Usage.Credits != 1 || reply.Upstream <= 0 {
		t.Errorf("%s: got %+v %.80s", question, reply.Head, reply.Body)
	}
}

func checkStream(t *testing.T, client *search.Client) {
	t.Helper()
	s, err := client.Stream(t.Context(), request(search.OpResearch, streaming))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	var text strings.Builder
	for {
		chunk, err := s.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		text.Write(chunk)
	}
	if s.Head.Status != 200 || !strings.HasSuffix(text.String(), "event: done\n") {
		t.Errorf("got %+v %s", s.Head, text.String())
	}
}

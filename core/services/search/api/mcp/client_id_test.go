package mcp

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"
)

// kept are ids and progress tokens that come back as they were sent, byte for byte.
var kept = []string{
	"0", "7", "-3", "9007199254740993", "-9007199254740993", "123456789012345678901234567890", "1.5", "1.50", "1e3", `"seven"`, `"7"`, `""`,
	`"\u0061\n\"é<&"`, `"9007199254740993"`,
}

// sendMessage sends a body and returns status and body of the answer.
func sendMessage(t *testing.T, url, accept, body string, header ...string) (int, string) {
	t.Helper()
	req, err := http.NewRequest(http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", accept)
	for i := 0; i < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(raw)
}

func TestIDsAreKept(t *testing.T) {
	url := serve(t, Config{}, func(context.Context, Call) (*Result, error) { return &Result{Body: []byte("{}")}, nil })
	for _, id := range kept {
		for method, params := range map[string]string{
			"initialize": `{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}`,
			"ping":       `{}`, "tools/list": `{}`, "tools/call": `{"name":"x"}`, "no/such": `{}`, "prompts/get": `{"name":7}`,
		} {
			message := fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":%q,"params":%s}`, id, method, params)
			for _, accept := range []string{"application/json", "text/event-stream"} {
				status, body := sendMessage(t, url, accept, message)
				if status != 200 || strings.Count(body, `"id":`+id+",") != 1 {
					t.Errorf("%s of %s as %s: %d %s", method, id, accept, status, body)
				}
			}
			if status, body := sendMessage(t, url, "application/json", message, "Mcp-Protocol-Version", "2099-01-01"); status != 400 ||
				!strings.Contains(body, `"id":`+id+",") {
				t.Errorf("%s of %s that is refused: %d %s", method, id, status, body)
			}
		}
	}
	var batch []string
	for _, id := range kept {
		batch = append(batch, fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":"ping"}`, id))
	}
	_, body := sendMessage(t, url, "application/json", "["+strings.Join(batch, ",")+"]")
	for _, id := range kept {
		if strings.Count(body, `"id":`+id+",") != 1 {
			t.Errorf("the id %s is missing in %s", id, body)
		}
	}
	for _, id := range []string{"true", "{}", "[1]"} {
		if status, body := sendMessage(t, url, "application/json",
			fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":"ping"}`, id)); status != 400 || !strings.Contains(body, "-32600") {
			t.Errorf("an id that is none, %s: %d %s", id, status, body)
		}
	}
}

// TestProgress has tools that do not end before their clients hear how long they have taken.
func TestProgress(t *testing.T) {
	for _, token := range kept {
		told := make(chan struct{})
		url := serve(t, Config{Progress: time.Millisecond}, func(context.Context, Call) (*Result, error) {
			<-told
			return &Result{Body: []byte("op{}")}, nil
		})
		body := streamUntil(t, url, fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x","_meta":{"a":1,"progressToken":%s}}}`, token), func(sofar string) bool {
			return strings.Count(sofar, "notifications/progress") >= 2
		}, told)
		if !strings.Contains(body, `"params":{"progressToken":`+token+`,"progress":`) ||
			!strings.HasSuffix(strings.TrimSpace(body), `"text":"op{}"}]}}`) {
			t.Errorf("token %s: %s", token, body)
		}
	}
}

// streamUntil posts a message, closes told once the events so far suffice, and returns all of them.
func streamUntil(t *testing.T, url, message string, enough func(string) bool, told chan struct{}) string {
	t.Helper()
	req, err := http.NewRequest(http.MethodPost, url, strings.NewReader(message))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	var all strings.Builder
	buf := make([]byte, 4096)
	for open := true; ; {
		n, err := resp.Body.Read(buf)
		all.Write(buf[:n])
		if open && enough(all.String()) {
			close(told)
			open = false
		}
		if err != nil {
			return all.String()
		}
	}
}

// TestNoProgress: who does not ask for it, or by a token that is none, is answered as a whole.
func TestNoProgress(t *testing.T) {
	for _, meta := range []string{`{}`, `{"progressToken":null}`, `{"progressToken":true}`, `{"progressToken":{"a":1}}`,
		`{"progressToken":[1]}`, `7`} {
		url := serve(t, Config{Progress: time.Nanosecond},
			func(context.Context, Call) (*Result, error) { return &Result{Body: []byte("{}")}, nil })
		status, body := sendMessage(t, url, "application/json, text/event-stream",
			`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x","_meta":`+meta+`}}`)
		if status != 200 || strings.Contains(body, "notifications/progress") {
			t.Errorf("%s: %d %s", meta, status, body)
		}
	}
}

// TestCancelledCallGetsNoResponse cancels calls by every form of id.
func TestCancelledCallGetsNoResponse(t *testing.T) {
	for _, id := range kept {
		for _, accept := range []string{"application/json", "text/event-stream", "application/json, text/event-stream"} {
			entered := make(chan struct{})
			url := serve(t, Config{}, func(ctx context.Context, _ Call) (*Result, error) {
				close(entered)
				<-ctx.Done()
				return nil, ctx.Err()
			})
			session := beginSession(t, url, "2025-03-26")
			call := fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":"tools/call","params":{"name":"x"}}`, id)
			ended := make(chan string, 1)
			go func() {
				status, body := sendMessage(t, url, accept, call, headerSession, session)
				ended <- fmt.Sprint(status, body)
			}()
			<-entered
			if status, body := sendMessage(t, url, accept,
				`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":`+id+`,"reason":"no more"}}`, headerSession,
				session); status != 202 || body != "" {
				t.Errorf("the cancellation: %d %s", status, body)
			}
			if got := <-ended; got != "202" {
				t.Errorf("%s as %s: %s", id, accept, got)
			}
		}
	}
}

// TestCancelledCallOfABatch: the others of a batch are answered.
func TestCancelledCallOfABatch(t *testing.T) {
	entered := make(chan struct{})
	url := serve(t, Config{}, func(ctx context.Context, _ Call) (*Result, error) {
		close(entered)
		<-ctx.Done()
		return nil, ctx.Err()
	})
	session := beginSession(t, url, "2025-03-26")
	ended := make(chan string, 1)
	go func() {
		_, body := sendMessage(t, url, "application/json",
			`[{"jsonrpc":"2.0","id":1.5,"method":"tools/call","params":{"name":"x"}},{"jsonrpc":"2.0","id":2,"method":"ping"}]`, headerSession,
			session)
		ended <- body
	}()
	<-entered
	cancel := `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1.5}}`
	// A client that repeats itself, or names what does not run, changes nothing.
	sendMessage(t, url, "application/json", "["+cancel+","+cancel+`,{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":9}}]`, headerSession, session)
	if body := <-ended; body != `[{"jsonrpc":"2.0","id":2,"result":{}}]` {
		t.Errorf("got %s", body)
	}
}

func beginSession(t *testing.T, url, version string) string {
	t.Helper()
	req, err := http.NewRequest(http.MethodPost, url,
		strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"`+version+`","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	_, _ = io.Copy(io.Discard, resp.Body)
	return resp.Header.Get(headerSession)
}

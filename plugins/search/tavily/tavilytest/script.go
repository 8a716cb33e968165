package tavilytest

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"time"
)

// Faults that an Answer can have.
const (
	// FaultReset sends nothing and resets the connection.
	FaultReset = "reset"
	// FaultHalfBody sends half of the promised bytes and closes the connection.
	FaultHalfBody = "half_body"
	// FaultWrongLength promises fewer bytes than a whole body has, so that the body is cut.
	FaultWrongLength = "wrong_length"
	// FaultHTML answers with an HTML page and status 200.
	FaultHTML = "html"
	// FaultLarge answers with a search result of 10 MB.
	FaultLarge = "large"
	// FaultHuge answers with 20 MB.
	FaultHuge = "huge"
	// FaultHang answers nothing until the client leaves.
	FaultHang = "hang"
	// FaultStreamCut sends one event and resets the connection.
	FaultStreamCut = "stream_cut"
	// FaultGarbage answers with bytes that are not HTTP.
	FaultGarbage = "garbage"
)

// Answer is a scripted answer. With only DelayMS set, the regular answer follows after the delay.
type Answer struct {
	// Path and Key restrict it to requests with that path, such as /search, or that bearer key; empty fits all.
	Path string `json:"path,omitempty"`
	Key  string `json:"key,omitempty"`
	// Times is how often it is given; 0 means once, -1 for ever.
	Times   int               `json:"times,omitempty"`
	Status  int               `json:"status,omitempty"`
	Header  map[string]string `json:"header,omitempty"`
	Body    string            `json:"body,omitempty"`
	DelayMS int               `json:"delay_ms,omitempty"`
	Fault   string            `json:"fault,omitempty"`
}

// nextAnswer takes the first scripted answer that fits.
func (s *Server) nextAnswer(r *http.Request) *Answer {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, a := range s.script {
		if a.Path != "" && a.Path != r.URL.Path || a.Key != "" && a.Key != bearerKey(r.Header) {
			continue
		}
		switch {
		case a.Times < 0:
		case a.Times <= 1:
			s.script = append(s.script[:i:i], s.script[i+1:]...)
		default:
			a.Times--
		}
		out := *a
		return &out
	}
	return nil
}

// playAnswer gives a scripted answer; it returns true if the regular one shall follow.
func (s *Server) playAnswer(w http.ResponseWriter, r *http.Request, a *Answer) bool {
	if !s.pauseRequest(r, time.Duration(a.DelayMS)*time.Millisecond) {
		return false
	}
	for k, v := range a.Header {
		w.Header().Set(k, v)
	}
	if a.Fault != "" {
		s.writeFault(w, r, a.Fault)
		return false
	}
	if a.Status == 0 {
		return true
	}
	if w.Header().Get("Content-Type") == "" {
		w.Header().Set("Content-Type", "application/json")
	}
	w.WriteHeader(a.Status)
	body := a.Body
	if body == "" && a.Status >= 400 {
		body = fmt.Sprintf(`{"detail":{"error":%q}}`, errorText(a.Status))
	}
	_, _ = io.WriteString(w, body)
	return false
}

func errorText(status int) string {
	switch status {
	case 401:
		return "Unauthorized: missing or invalid API key."
	case 403:
		return "[403] URL is not supported"
	case 429:
		return "Your request has been blocked due to excessive requests. Please reduce rate of requests."
	case 432:
		return "This request exceeds your plan's set usage limit."
	case 433:
		return "This request exceeds the pay-as-you-go limit."
	}
	return "Internal Server Error"
}

const half = `{"query":"q","results":[{"title":"Result 1","url":"https://exam`

func (s *Server) writeFault(w http.ResponseWriter, r *http.Request, fault string) {
	switch fault {
	case FaultHang:
		select {
		case <-r.Context().Done():
		case <-s.done:
		}
	case FaultHTML:
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = io.WriteString(w, "<!doctype html><title>Sign in</title><p>Please sign in.</p>")
	case FaultLarge:
		writeLarge(w, 10<<20)
	case FaultHuge:
		writeLarge(w, 20<<20)
	case FaultWrongLength:
		// net/http refuses to write more than promised, so that the rest is lost as with a broken proxy.
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Content-Length", fmt.Sprint(len(half)))
		_, _ = io.WriteString(w, half)
	case FaultStreamCut:
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, "event: chat.completion.chunk\ndata: {}\n\n")
		w.(http.Flusher).Flush()
		hijackAndWrite(w, "")
	case FaultHalfBody:
		hijackAndWrite(w, fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", 2*len(half), half))
	case FaultGarbage:
		hijackAndWrite(w, "garbage\r\n\r\n")
	default:
		hijackAndWrite(w, "")
	}
}

func writeLarge(w http.ResponseWriter, size int) {
	writeJSON(w, http.StatusOK, map[string]any{
		"query": "q", "answer": nil, "images": []any{}, "response_time": 1, "usage": map[string]any{"credits": 1},
		"results":    []any{map[string]any{"title": "t", "url": "https://example.org/", "score": 1, "content": strings.Repeat("x", size)}},
		"request_id": "large",
	})
}

// hijackAndWrite writes raw bytes and closes the connection; without bytes it resets it.
func hijackAndWrite(w http.ResponseWriter, raw string) {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return
	}
	if raw == "" {
		if tcp, ok := conn.(*net.TCPConn); ok {
			_ = tcp.SetLinger(0)
		}
	} else {
		_, _ = io.WriteString(conn, raw)
	}
	_ = conn.Close()
}

// answerControl answers the paths that steer a server in another process:
//
//	POST /_control/script    an Answer, or a list of them, is added to the script
//	POST /_control/reset     script, requests, researches and credits are forgotten
//	GET  /_control/requests  the list of requests
func (s *Server) answerControl(w http.ResponseWriter, r *http.Request, name string) {
	switch r.Method + " " + name {
	case "POST script":
		answers, err := readScript(r.Body)
		if err != nil {
			writeError(w, http.StatusBadRequest, err.Error())
			return
		}
		s.Script(answers...)
		w.WriteHeader(http.StatusNoContent)
	case "POST reset":
		s.Reset()
		w.WriteHeader(http.StatusNoContent)
	case "GET requests":
		writeJSON(w, http.StatusOK, s.Requests())
	default:
		writeError(w, http.StatusNotFound, "Not Found")
	}
}

func readScript(r io.Reader) ([]Answer, error) {
	data, err := io.ReadAll(io.LimitReader(r, maxBody))
	if err != nil {
		return nil, fmt.Errorf("read script: %w", err)
	}
	var list []Answer
	if err := json.Unmarshal(data, &list); err == nil {
		return list, nil
	}
	var one Answer
	if err := json.Unmarshal(data, &one); err != nil {
		return nil, fmt.Errorf("read script: %w", err)
	}
	return []Answer{one}, nil
}

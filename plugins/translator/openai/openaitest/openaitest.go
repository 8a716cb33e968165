// Package openaitest stands in for a server with the chat completions API of OpenAI. It checks each request against the published
// schema of the API, answers as its models would, and fails as it is told.
package openaitest

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// Server is the server. Its methods may be called from several goroutines.
type Server struct {
	t    testing.TB
	http *httptest.Server
	key  string

	mu      sync.Mutex
	models  []string
	faults  []Fault
	lasting *Fault
	reply   func(Chat) string
	rejects []string
	stream  bool
	noUsage bool
	chats   []Chat
}

// Chat is a request for a chat completion.
type Chat struct {
	Model    string
	Messages []Message
	// Format is "json_schema", "json_object" or "".
	Format string
	// Target and Parts are what the last request in the messages asks for; Summary says that it asks for a summary.
	Target  string
	Parts   []Part
	Summary bool
}

// Message is one message of a chat.
type Message struct {
	Role    string `json:"role"`
	Content string `json:"content"`
}

// Part is a text to translate.
type Part struct {
	Name   string `json:"name"`
	Format string `json:"format"`
	Text   string `json:"text"`
}

// Fault is an answer without success, or one that is not what it should be.
type Fault struct {
	// Status and RetryAfter are of the answer, which has Code and Message as its error.
	Status     int
	RetryAfter time.Duration
	Code       string
	Message    string
	// Body is the whole answer, if it is not empty. Slow has the server not answer.
	Body string
	Slow bool
	// Model confines the fault to requests for a model; others pass.
	Model string
}

// New starts a server that knows models and wants a key; both may be empty. It ends with the test.
func New(t testing.TB, key string, models ...string) *Server {
	s := &Server{t: t, key: key, models: models, reply: Translate}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/chat/completions", s.serveChat)
	mux.HandleFunc("GET /v1/models", s.serveModels)
	s.http = httptest.NewServer(mux)
	t.Cleanup(s.http.Close)
	return s
}

// URL returns the base URL of the API.
func (s *Server) URL() string { return s.http.URL + "/v1" }

// Fail appends faults, one for each of the next requests. A zero Fault lets one pass.
func (s *Server) Fail(faults ...Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults = append(s.faults, faults...)
}

// FailUntil has all requests fail until the function that it returns is called.
func (s *Server) FailUntil(f Fault) (undo func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lasting = &f
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.lasting = nil
	}
}

// Reply sets what a model says to a chat.
func (s *Server) Reply(f func(Chat) string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.reply = f
}

// Reject has the server refuse requests with one of these members, as servers do that do not know them: "response_format",
// "json_schema", "max_tokens" and "temperature".
func (s *Server) Reject(members ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.rejects = members
}

// AnswerAs sets whether answers come as a stream of events that nobody asked for, and without usage, as of some gateways.
func (s *Server) AnswerAs(stream, noUsage bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stream, s.noUsage = stream, noUsage
}

// Chats returns the requests for chat completions that were answered with success, in order.
func (s *Server) Chats() []Chat {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.chats)
}

func (s *Server) serveModels(w http.ResponseWriter, _ *http.Request) {
	data := []map[string]any{}
	for _, m := range s.models {
		data = append(data, map[string]any{"id": m, "object": "model", "created": 1700000000, "owned_by": "test"})
	}
	writeJSON(w, http.StatusOK, map[string]any{"object": "list", "data": data})
}

func writeJSON(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body)
}

func writeRefusal(w http.ResponseWriter, status int, kind, param, code, message string) {
	writeJSON(w, status, map[string]any{"error": map[string]any{"message": message, "type": kind, "param": param, "code": code}})
}

// nextFault returns the fault of a request, or nil.
func (s *Server) nextFault(model string) *Fault {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.lasting != nil && (s.lasting.Model == "" || s.lasting.Model == model) {
		return s.lasting
	}
	if len(s.faults) == 0 || s.faults[0].Model != "" && s.faults[0].Model != model {
		return nil
	}
	f := s.faults[0]
	s.faults = s.faults[1:]
	if f == (Fault{}) {
		return nil
	}
	return &f
}

func (s *Server) serveChat(w http.ResponseWriter, r *http.Request) {
	raw, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	if s.key != "" && r.Header.Get("Authorization") != "Bearer "+s.key {
		writeRefusal(w, http.StatusUnauthorized, "invalid_request_error", "", "invalid_api_key",
			"Incorrect API key provided: "+r.Header.Get("Authorization"))
		return
	}
	in, problem := s.readChat(raw)
	if problem != "" {
		s.t.Errorf("the request is not one of the API: %s: %.300s", problem, raw)
		writeRefusal(w, http.StatusBadRequest, "invalid_request_error", "", "", problem)
		return
	}
	if f := s.nextFault(in.Model); f != nil {
		f.writeFault(w, r)
		return
	}
	if name := s.rejectedMember(in); name != "" {
		writeRefusal(w, http.StatusBadRequest, "invalid_request_error", name, "unsupported_parameter",
			"Unsupported parameter: '"+name+"' is not supported with this model.")
		return
	}
	if len(s.models) > 0 && !slices.Contains(s.models, in.Model) {
		writeRefusal(w, http.StatusNotFound, "invalid_request_error", "model", "model_not_found", "The model `"+in.Model+"` does not exist.")
		return
	}
	s.answerChat(w, in.Chat)
}

// writeFault answers with the fault.
func (f *Fault) writeFault(w http.ResponseWriter, r *http.Request) {
	if f.Slow {
		<-r.Context().Done()
		return
	}
	if f.RetryAfter > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(int(f.RetryAfter.Seconds())))
	}
	if f.Body != "" {
		w.WriteHeader(max(f.Status, http.StatusOK))
		_, _ = io.WriteString(w, f.Body)
		return
	}
	writeRefusal(w, f.Status, "error", "", f.Code, f.Message)
}

func (s *Server) answerChat(w http.ResponseWriter, chat Chat) {
	s.mu.Lock()
	s.chats = append(s.chats, chat)
	reply, stream, noUsage := s.reply, s.stream, s.noUsage
	s.mu.Unlock()
	said := reply(chat)
	usage := map[string]any{"prompt_tokens": 100, "completion_tokens": 50, "total_tokens": 150}
	if noUsage {
		usage = nil
	}
	if stream {
		w.Header().Set("Content-Type", "text/event-stream")
		half := len(said) / 2
		for half < len(said) && half > 0 && said[half]&0xC0 == 0x80 {
			half++
		}
		for _, piece := range []string{said[:half], said[half:]} {
			event, _ := json.Marshal(map[string]any{"choices": []any{map[string]any{"index": 0, "delta": map[string]any{"content": piece}}}})
			_, _ = fmt.Fprintf(w, "data: %s\n\n", event)
		}
		_, _ = io.WriteString(w, "data: [DONE]\n\n")
		return
	}
	writeJSON(w, http.StatusOK, map[string]any{
		"id": "chatcmpl-1", "object": "chat.completion", "created": 1700000000, "model": chat.Model, "usage": usage,
		"choices": []any{map[string]any{"index": 0, "finish_reason": "stop",
			"message": map[string]any{"role": "assistant", "content": said, "refusal": nil}}},
	})
}

// Translate says what a model says that follows its rules: each line of a text begins with 译.
func Translate(c Chat) string {
	if c.Summary {
		return `{"valuable":true,"title":"译标题","items":["译：改了一处"]}`
	}
	parts := make([]Part, len(c.Parts))
	for i, p := range c.Parts {
		lines := strings.Split(p.Text, "\n")
		for k, line := range lines {
			if at := strings.IndexFunc(line, func(r rune) bool { return !strings.ContainsRune(" \t#->*|`~:", r) }); at >= 0 &&
				!strings.HasPrefix(line, "```") {
				lines[k] = line[:at] + "译" + line[at:]
			}
		}
		parts[i] = Part{Name: p.Name, Text: strings.Join(lines, "\n")}
	}
	raw, _ := json.Marshal(map[string]any{"parts": parts})
	return string(raw)
}

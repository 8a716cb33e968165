// Package telegramtest is a Bot API for tests: an HTTP server that takes sendMessage and sendPhoto by the published rules,
// refuses what the API refuses in its words, and keeps what arrived.
package telegramtest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// Bounds of the API: in UTF-16 code units after the markup is taken away, and in bytes for a photo.
const (
	MaxText    = 4096
	MaxCaption = 1024
	MaxPhoto   = 10 << 20
)

// Message is one that arrived.
type Message struct {
	ID int64
	// Method is sendMessage or sendPhoto; ChatID is as the request had it.
	Method, ChatID string
	// Text is the text or caption without markup, and Markup as it was sent; ParseMode is HTML or empty.
	Text, Markup, ParseMode string
	Entities                []Entity
	// Photo and FileName are set for sendPhoto.
	Photo    []byte
	FileName string
	// PreviewDisabled and Silent are options of the request.
	PreviewDisabled, Silent bool
}

// Failure is what a method answers instead of doing its work.
type Failure struct {
	// Status is the HTTP status and the error code; Description the API's words for it.
	Status      int
	Description string
	// RetryAfter (seconds) and MigrateTo are parameters of the answer, if not 0.
	RetryAfter int
	MigrateTo  int64
	// Hang answers nothing until the caller goes away; Drop ends the connection without an answer. Kept stores the
	// message all the same. Raw is a body in place of the API's form.
	Hang, Drop, Kept bool
	Raw              string
	// Times is how often it happens; 0 means until Heal.
	Times int
}

// Failures as the API has them.
var (
	PhotoBroken  = Failure{Status: 500, Description: "Internal Server Error"}
	Blocked      = Failure{Status: 403, Description: "Forbidden: bot was blocked by the user"}
	ChatNotFound = Failure{Status: 400, Description: "Bad Request: chat not found"}
)

// TooMany is the failure of too many requests.
func TooMany(seconds int) Failure {
	return Failure{Status: 429, Description: fmt.Sprintf("Too Many Requests: retry after %d", seconds), RetryAfter: seconds}
}

// Server is a Bot API with one bot and one chat.
type Server struct {
	// URL is the base address; Host is its host and port, for allow_hosts.
	URL, Host string
	// Token is the bot's; ChatID is the one chat that it may write to.
	Token, ChatID string

	mu       sync.Mutex
	messages []Message
	failures map[string]*Failure
	last     int64
	requests int
}

// New starts a server and stops it when the test ends.
func New(t testing.TB) *Server {
	t.Helper()
	s := &Server{Token: "110201543:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw0", ChatID: "-1001234567890", failures: map[string]*Failure{}, last: 100}
	h := httptest.NewServer(http.HandlerFunc(s.serveMethod))
	s.URL, s.Host = h.URL, strings.TrimPrefix(h.URL, "http://")
	t.Cleanup(h.Close)
	return s
}

// Messages are those that arrived, in order.
func (s *Server) Messages() []Message {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Message(nil), s.messages...)
}

// Requests is how many requests came, also those that were refused.
func (s *Server) Requests() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.requests
}

// Fail makes a method fail: sendPhoto, sendMessage, or "" for both.
func (s *Server) Fail(method string, f Failure) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.failures[method] = &f
}

// Heal ends all failures.
func (s *Server) Heal() {
	s.mu.Lock()
	defer s.mu.Unlock()
	clear(s.failures)
}

// nextFailure is the one that is due for a method, or nil.
func (s *Server) nextFailure(method string) *Failure {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests++
	for _, name := range []string{method, ""} {
		f := s.failures[name]
		if f == nil {
			continue
		}
		if f.Times > 0 {
			if f.Times--; f.Times == 0 {
				delete(s.failures, name)
			}
		}
		return f
	}
	return nil
}

func (s *Server) serveMethod(w http.ResponseWriter, r *http.Request) {
	token, method, ok := strings.Cut(strings.TrimPrefix(r.URL.Path, "/bot"), "/")
	m, err := readMessage(r, method)
	f := s.nextFailure(method)
	switch {
	case !strings.HasPrefix(r.URL.Path, "/bot") || !ok || !strings.Contains(token, ":"):
		writeRefusal(w, &Failure{Status: http.StatusNotFound, Description: "Not Found"})
	case token != s.Token:
		writeRefusal(w, &Failure{Status: http.StatusUnauthorized, Description: "Unauthorized"})
	case f != nil:
		s.writeFailure(w, r, f, m)
	case err != nil:
		writeRefusal(w, badRequest(err.Error()))
	case m.ChatID == "":
		writeRefusal(w, badRequest("chat_id is empty"))
	case m.ChatID != s.ChatID:
		writeRefusal(w, &ChatNotFound)
	default:
		s.keepMessage(m)
		s.acceptMessage(w, m)
	}
}

func (s *Server) keepMessage(m *Message) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.last++
	m.ID = s.last
	s.messages = append(s.messages, *m)
}

func (s *Server) writeFailure(w http.ResponseWriter, r *http.Request, f *Failure, m *Message) {
	if f.Kept && m != nil {
		s.keepMessage(m)
	}
	switch {
	case f.Hang:
		<-r.Context().Done()
	case f.Drop:
		panic(http.ErrAbortHandler)
	case f.Raw != "":
		w.WriteHeader(max(f.Status, http.StatusOK))
		_, _ = w.Write([]byte(f.Raw))
	default:
		writeRefusal(w, f)
	}
}

func badRequest(words string) *Failure {
	return &Failure{Status: http.StatusBadRequest, Description: "Bad Request: " + words}
}

type parameters struct {
	MigrateTo  int64 `json:"migrate_to_chat_id,omitempty"`
	RetryAfter int   `json:"retry_after,omitempty"`
}

func writeRefusal(w http.ResponseWriter, f *Failure) {
	out := map[string]any{"ok": false, "error_code": f.Status, "description": f.Description}
	if f.RetryAfter != 0 || f.MigrateTo != 0 {
		out["parameters"] = parameters{f.MigrateTo, f.RetryAfter}
	}
	writeJSON(w, f.Status, out)
}

func writeJSON(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v)
}

// acceptMessage answers with the Message object.
func (s *Server) acceptMessage(w http.ResponseWriter, m *Message) {
	id, _ := strconv.ParseInt(s.ChatID, 10, 64)
	out := map[string]any{
		"message_id": m.ID, "date": time.Now().Unix(),
		"chat": map[string]any{"id": id, "type": "supergroup", "title": "Operations"},
		"from": map[string]any{"id": 110201543, "is_bot": true, "first_name": "Patchbay"},
	}
	text, entities := "text", "entities"
	if m.Method == "sendPhoto" {
		text, entities = "caption", "caption_entities"
		width, height := imageSize(m.Photo)
		out["photo"] = []map[string]any{{"file_id": "photo", "file_unique_id": "unique", "width": width, "height": height,
			"file_size": len(m.Photo)}}
	}
	if m.Text != "" {
		out[text] = m.Text
	}
	if len(m.Entities) > 0 {
		out[entities] = m.Entities
	}
	writeJSON(w, http.StatusOK, map[string]any{"ok": true, "result": out})
}

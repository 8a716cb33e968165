// Package tavilytest is a stand-in for the Tavily API: it follows the published schema of every endpoint, checks keys,
// records what it receives, and can be told to misbehave. It is for tests and benchmarks.
package tavilytest

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"
)

// Config configures a Server.
type Config struct {
	// Keys are the bearer keys that are accepted; empty accepts every key that is not empty.
	Keys []string
	// Record, if set, gets each request as one line of JSON.
	Record io.Writer
	// ResultBytes is the length of the content of each result; 0 means 120.
	ResultBytes int
	// StreamDelay is the pause between two events of a streamed research.
	StreamDelay time.Duration
	// NoHistory keeps no requests in memory, for benchmarks.
	NoHistory bool
}

// Request is what the server received.
type Request struct {
	Time   time.Time   `json:"time"`
	Method string      `json:"method"`
	Path   string      `json:"path"`
	Query  string      `json:"query,omitempty"`
	Header http.Header `json:"header"`
	Body   string      `json:"body,omitempty"`
}

// Key is the bearer key of the request.
func (r Request) Key() string { return bearerKey(r.Header) }

// Server is an http.Handler. Close it after the HTTP server, so that hanging answers end.
type Server struct {
	cfg Config

	mu       sync.Mutex
	requests []Request
	script   []*Answer
	research map[string]*task
	credits  map[string]int64
	count    int
	done     chan struct{}
	closed   sync.Once
}

// New makes a Server.
func New(cfg Config) *Server {
	if cfg.ResultBytes == 0 {
		cfg.ResultBytes = 120
	}
	return &Server{cfg: cfg, research: map[string]*task{}, credits: map[string]int64{}, done: make(chan struct{})}
}

// Close releases answers that hang.
func (s *Server) Close() { s.closed.Do(func() { close(s.done) }) }

// Requests returns what was received so far, in order.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.requests)
}

// Script adds answers that are given before the regular ones, each to the first request that it fits.
func (s *Server) Script(answers ...Answer) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, a := range answers {
		s.script = append(s.script, &a)
	}
}

// Reset forgets the script, the requests, the researches and the credits.
func (s *Server) Reset() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.script, s.requests = nil, nil
	s.research, s.credits = map[string]*task{}, map[string]int64{}
}

const maxBody = 32 << 20

// ServeHTTP implements http.Handler. Paths that start with /_control/ are for the test, see Control.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if name, ok := strings.CutPrefix(r.URL.Path, "/_control/"); ok {
		s.answerControl(w, r, name)
		return
	}
	body, err := io.ReadAll(io.LimitReader(r.Body, maxBody))
	if err != nil {
		return
	}
	s.recordRequest(r, body)
	if a := s.nextAnswer(r); a != nil {
		if !s.playAnswer(w, r, a) {
			return
		}
	}
	s.answerRegular(w, r, body)
}

func (s *Server) recordRequest(r *http.Request, body []byte) {
	req := Request{
		Time: time.Now(), Method: r.Method, Path: r.URL.Path, Query: r.URL.RawQuery, Header: r.Header.Clone(), Body: string(body),
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.cfg.NoHistory {
		s.requests = append(s.requests, req)
	}
	if s.cfg.Record != nil {
		_ = json.NewEncoder(s.cfg.Record).Encode(req)
	}
}

func (s *Server) answerRegular(w http.ResponseWriter, r *http.Request, body []byte) {
	key := bearerKey(r.Header)
	if key == "" || len(s.cfg.Keys) > 0 && !slices.Contains(s.cfg.Keys, key) {
		writeError(w, http.StatusUnauthorized, "Unauthorized: missing or invalid API key.")
		return
	}
	path := strings.TrimPrefix(r.URL.Path, "/")
	id, isResult := strings.CutPrefix(path, "research/")
	switch {
	case r.Method == http.MethodGet && path == "usage":
		s.answerUsage(w, key)
	case r.Method == http.MethodGet && isResult:
		s.researchResult(w, id)
	case r.Method == http.MethodPost:
		s.answerPost(w, r, key, path, body)
	default:
		writeError(w, http.StatusNotFound, "Not Found")
	}
}

func (s *Server) answerPost(w http.ResponseWriter, r *http.Request, key, path string, body []byte) {
	c := &call{server: s, key: key, w: w, r: r}
	if err := json.Unmarshal(body, &c.in); err != nil {
		writeError(w, http.StatusUnprocessableEntity, "body is not a JSON object")
		return
	}
	if msg := checkInput(path, c.in); msg != "" {
		writeError(w, http.StatusBadRequest, msg)
		return
	}
	switch path {
	case "search":
		c.answerSearch()
	case "extract":
		c.answerExtract()
	case "crawl":
		c.answerCrawl()
	case "map":
		c.answerMap()
	case "research":
		c.answerResearch()
	default:
		writeError(w, http.StatusNotFound, "Not Found")
	}
}

func bearerKey(h http.Header) string {
	key, ok := strings.CutPrefix(h.Get("Authorization"), "Bearer ")
	if !ok {
		return ""
	}
	return key
}

func writeJSON(w http.ResponseWriter, status int, v any) {
	data, err := json.Marshal(v)
	if err != nil {
		http.Error(w, "cannot encode", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", fmt.Sprint(len(data)))
	w.WriteHeader(status)
	_, _ = w.Write(data)
}

func writeError(w http.ResponseWriter, status int, message string) {
	writeJSON(w, status, map[string]any{"detail": map[string]any{"error": message}})
}

// newID returns an id in the form of a UUID.
func (s *Server) newID() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.count++
	return fmt.Sprintf("00000000-0000-4000-8000-%012x", s.count)
}

func (s *Server) chargeKey(key string, n int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.credits[key] += n
}

// Package searxngtest is a stand-in for a SearXNG server: its search in the JSON form, as the server's documentation
// describes it, with pages of results, images, answers and the refusals of a server that is set up otherwise.
package searxngtest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
)

// Result is one result of a search. Members without a value are null in the answer, as engines leave them.
type Result struct {
	URL       string
	Title     string
	Content   string
	Engine    string
	Category  string
	Score     float64
	Published string
	Image     string
}

// Config configures a Server. The zero value finds what Results makes of any query.
type Config struct {
	// Results finds; nil makes 25 results of a query. Categories is the parameter of that name.
	Results func(query, categories string) []Result
	// PageSize is how many results a page has (10).
	PageSize int
	// Answers and Infobox come with the first page. TextAnswers writes answers as older servers do.
	Answers     []string
	TextAnswers bool
	Infobox     string
	// NoJSON refuses the JSON form, as a server does by default.
	NoJSON bool
	// Unresponsive are engines that do not answer.
	Unresponsive []string
	// Engines are those that the configuration tells; without any it is not told.
	Engines []Engine
}

// Engine is an engine of the server.
type Engine struct {
	Name       string
	Categories []string
	Disabled   bool
	TimeRange  bool
}

// Scripted replaces the next answers.
type Scripted struct {
	Status      int
	ContentType string
	Body        string
	Header      map[string]string
	// Times is how many answers; negative means all.
	Times int
	// Hold keeps the request until its client leaves.
	Hold bool
}

// Server is the stand-in, an http.Handler.
type Server struct {
	cfg Config

	mu       sync.Mutex
	requests []url.Values
	script   *Scripted
}

// New makes a Server.
func New(cfg Config) *Server {
	if cfg.PageSize == 0 {
		cfg.PageSize = 10
	}
	if cfg.Results == nil {
		cfg.Results = generateResults
	}
	return &Server{cfg: cfg}
}

// Script replaces the next answers; the last call counts.
func (s *Server) Script(a Scripted) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.script = &a
}

// Requests are the parameters of all searches so far.
func (s *Server) Requests() []url.Values {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]url.Values{}, s.requests...)
}

func generateResults(query, categories string) (out []Result) {
	for i := range 25 {
		r := Result{
			URL: fmt.Sprintf("https://site%d.example/%s/%d", i%5, url.PathEscape(query), i), Title: fmt.Sprintf("Result %d for %s", i, query),
			Content: fmt.Sprintf("What result %d says about %s.", i, query), Engine: "example engine", Category: "general", Score: 10 / float64(i+1),
		}
		if categories == "images" {
			r.Category, r.Image = "images", fmt.Sprintf("https://images.example/%d.png", i)
		}
		out = append(out, r)
	}
	return out
}

// nextScripted notes a request and takes a scripted answer.
func (s *Server) nextScripted(q url.Values) *Scripted {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests = append(s.requests, q)
	a := s.script
	if a == nil || a.Times == 0 {
		return nil
	}
	if a.Times > 0 {
		a.Times--
	}
	return a
}

// ServeHTTP implements http.Handler.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	switch {
	case r.URL.Path == "/config" && len(s.cfg.Engines) > 0:
		s.serveConfig(w)
		return
	case r.URL.Path != "/search":
		http.NotFound(w, r)
		return
	}
	if q.Has("q") {
		if a := s.nextScripted(q); a != nil {
			a.serveScripted(w, r)
			return
		}
	}
	switch {
	case q.Get("format") != "json" || s.cfg.NoJSON && q.Get("format") == "json":
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		if q.Get("format") == "json" {
			w.WriteHeader(http.StatusForbidden)
		}
		_, _ = fmt.Fprint(w, "<!doctype html><title>SearXNG</title>")
	case strings.TrimSpace(q.Get("q")) == "":
		w.WriteHeader(http.StatusBadRequest)
	default:
		s.answerSearch(w, q)
	}
}

// serveConfig tells the engines.
func (s *Server) serveConfig(w http.ResponseWriter) {
	engines := []any{}
	for _, e := range s.cfg.Engines {
		engines = append(engines, map[string]any{
			"name": e.Name, "categories": e.Categories, "enabled": !e.Disabled, "time_range_support": e.TimeRange, "languages": []string{"en"},
			"paging": true,
		})
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(map[string]any{"categories": []string{"general", "news"}, "engines": engines, "instance_name": "SearXNG"})
}

func (a *Scripted) serveScripted(w http.ResponseWriter, r *http.Request) {
	if a.Hold {
		<-r.Context().Done()
		return
	}
	for k, v := range a.Header {
		w.Header().Set(k, v)
	}
	if a.ContentType != "" {
		w.Header().Set("Content-Type", a.ContentType)
	}
	w.WriteHeader(a.Status)
	_, _ = fmt.Fprint(w, a.Body)
}

func (s *Server) answerSearch(w http.ResponseWriter, q url.Values) {
	number, err := strconv.Atoi(q.Get("pageno"))
	if err != nil || number < 1 {
		number = 1
	}
	all := s.cfg.Results(q.Get("q"), q.Get("categories"))
	from := min(len(all), (number-1)*s.cfg.PageSize)
	results := []any{}
	for _, r := range all[from:min(len(all), from+s.cfg.PageSize)] {
		results = append(results, r.viewResult())
	}
	answers, infoboxes, silent := []any{}, []any{}, []any{}
	if number == 1 {
		answers, infoboxes = s.listExtras()
	}
	for _, e := range s.cfg.Unresponsive {
		silent = append(silent, []string{e, "timeout"})
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(map[string]any{
		"query": q.Get("q"), "number_of_results": 0, "results": results, "answers": answers, "corrections": []any{}, "infoboxes": infoboxes,
		"suggestions": []string{"a suggestion"}, "unresponsive_engines": silent,
	})
}

func (s *Server) listExtras() (answers, infoboxes []any) {
	answers, infoboxes = []any{}, []any{}
	for _, a := range s.cfg.Answers {
		if s.cfg.TextAnswers {
			answers = append(answers, a)
			continue
		}
		answers = append(answers, map[string]any{"answer": a, "url": nil, "engine": "example engine", "template": "answer/legacy.html"})
	}
	if s.cfg.Infobox != "" {
		infoboxes = append(infoboxes, map[string]any{
			"infobox": "Facts", "id": "https://facts.example/", "content": s.cfg.Infobox, "img_src": nil, "urls": []any{}, "attributes": []any{},
			"engine": "example engine",
		})
	}
	return answers, infoboxes
}

func (r Result) viewResult() map[string]any {
	orNull := func(s string) any {
		if s == "" {
			return nil
		}
		return s
	}
	out := map[string]any{
		"url": r.URL, "title": r.Title, "content": orNull(r.Content), "engine": r.Engine, "engines": []string{r.Engine}, "category": r.Category,
		"score":         r.Score,
		"publishedDate": orNull(r.Published), "positions": []int{1}, "parsed_url": []string{}, "template": "default.html", "thumbnail": nil,
	}
	if r.Image != "" {
		out["img_src"], out["template"] = r.Image, "images.html"
	}
	return out
}

// Package githubtest is a double of GitHub's REST and GraphQL APIs for tests: repositories, accounts, releases, stars,
// notifications, events, reactions, webhooks and signed deliveries, with statuses, bodies, page links, conditional requests
// and rate limits as its published description has them.
package githubtest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// Repo is a repository of the double.
type Repo struct {
	// ID is given by AddRepo if it is 0.
	ID int64
	// FullName is owner/name.
	FullName          string
	Private, Archived bool
	PushedAt          time.Time

	// stars is the number of its stargazers.
	stars int
}

// Hook is a webhook of the double, with its secret.
type Hook struct {
	ID                  int64
	URL, ContentType    string
	Secret, InsecureSSL string
	Events              []string
	Active              bool
}

// Answer is what a request gets instead of the usual answer.
type Answer struct {
	Status int
	Header map[string]string
	Body   string
}

// Server is the double. URL is its base_url.
type Server struct {
	*httptest.Server
	*state
}

// state is what the double has, and what it was asked.
type state struct {
	mu       sync.Mutex
	tokens   map[string]string
	orgs     map[string]bool
	repos    []Repo
	hooks    map[string][]Hook
	instead  func(*http.Request) *Answer
	requests []string
	queries  []Query
	lastID   int64
	pageSize int
	accounts map[string]*Account
	content  map[string]*Content
	quota    *Quota
	app      OAuthApp
	// challenges are by the codes that were given out.
	challenges map[string]string
}

// New starts a double that ends with the test. Nobody has access before Token was called.
func New(t testing.TB) *Server {
	t.Helper()
	s := &Server{state: &state{tokens: map[string]string{}, orgs: map[string]bool{}, hooks: map[string][]Hook{}, lastID: 1000,
		accounts: map[string]*Account{}, content: map[string]*Content{}, challenges: map[string]string{}}}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /user", s.answerUser)
	mux.HandleFunc("GET /user/repos", s.answerOwnRepos)
	mux.HandleFunc("GET /orgs/{owner}/repos", s.ofOrg)
	mux.HandleFunc("GET /users/{owner}/repos", s.ofUser)
	mux.HandleFunc("GET /repos/{owner}/{name}", s.answerRepo)
	mux.HandleFunc("GET /repos/{owner}/{name}/hooks", s.listHooks)
	mux.HandleFunc("POST /repos/{owner}/{name}/hooks", s.createHook)
	mux.HandleFunc("PATCH /repos/{owner}/{name}/hooks/{id}", s.updateHook)
	mux.HandleFunc("DELETE /repos/{owner}/{name}/hooks/{id}", s.deleteHook)
	mux.HandleFunc("GET /repos/{owner}/{name}/releases", s.listReleases)
	mux.HandleFunc("GET /repos/{owner}/{name}/tags", s.listTags)
	mux.HandleFunc("GET /repos/{owner}/{name}/stargazers", s.listStargazers)
	mux.HandleFunc("GET /repos/{owner}/{name}/compare/{range}", s.answerCompare)
	mux.HandleFunc("GET /user/followers", s.listFollowers)
	mux.HandleFunc("GET /notifications", s.listNotifications)
	mux.HandleFunc("GET /users/{login}/received_events", s.listEvents)
	mux.HandleFunc("POST /graphql", s.answerGraphQL)
	mux.HandleFunc("GET /login/oauth/authorize", s.answerAuthorize)
	mux.HandleFunc("POST /login/oauth/access_token", s.accessToken)
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) { writeError(w, 404, "Not Found") })
	metered := s.withRateLimit(mux)
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !s.beforeRequest(w, r) {
			metered.ServeHTTP(w, r)
		}
	}))
	t.Cleanup(s.Close)
	return s
}

// beforeRequest records a request, answers it where the test says so, and refuses tokens that are not known.
func (s *Server) beforeRequest(w http.ResponseWriter, r *http.Request) (answered bool) {
	s.mu.Lock()
	s.requests = append(s.requests, r.Method+" "+r.URL.RequestURI())
	instead := s.instead
	_, known := s.tokens[tokenFrom(r)]
	s.mu.Unlock()
	if instead != nil {
		if a := instead(r); a != nil {
			for k, v := range a.Header {
				w.Header().Set(k, v)
			}
			w.Header().Set("Content-Type", "application/json; charset=utf-8")
			w.WriteHeader(a.Status)
			_, _ = w.Write([]byte(a.Body))
			return true
		}
	}
	if tokenFrom(r) != "" && !known {
		writeError(w, 401, "Bad credentials")
		return true
	}
	return false
}

func tokenFrom(r *http.Request) string {
	return strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
}

// Token makes a token of a person known.
func (s *state) Token(token, login string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tokens[token] = login
}

// AddOrg makes an account an organisation; all others with repositories are persons.
func (s *state) AddOrg(login string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.orgs[strings.ToLower(login)] = true
}

// AddRepo adds a repository.
func (s *state) AddRepo(r Repo) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if r.ID == 0 {
		r.ID = int64(1000 + len(s.repos))
	}
	s.repos = append(s.repos, r)
}

// AddHook adds a webhook to a repository and returns its id.
func (s *state) AddHook(repo string, h Hook) int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lastID++
	h.ID = s.lastID
	s.hooks[strings.ToLower(repo)] = append(s.hooks[strings.ToLower(repo)], h)
	return h.ID
}

// Hooks are the webhooks of a repository.
func (s *state) Hooks(repo string) []Hook {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.hooks[strings.ToLower(repo)])
}

// Instead sets what answers before the double does; nil from it, or a nil function, leaves the request to the double.
func (s *state) Instead(f func(*http.Request) *Answer) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.instead = f
}

// PageSize bounds how much a page of a list holds, below what is asked for.
func (s *state) PageSize(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.pageSize = n
}

// Requests are those since the last call, as method and path with query.
func (s *state) Requests() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := s.requests
	s.requests = nil
	return out
}

const docs = "https://docs.github.com/rest"

func writeError(w http.ResponseWriter, status int, message string, errors ...map[string]string) {
	body := map[string]any{"message": message, "documentation_url": docs, "status": strconv.Itoa(status)}
	if len(errors) > 0 {
		body["errors"] = errors
	}
	writeJSON(w, status, body)
}

func writeJSON(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body)
}

// writePage answers with the page of a list that was asked for.
func writePage[T any](s *Server, w http.ResponseWriter, r *http.Request, all []T, view func(T) any) {
	number := func(name string, otherwise int) int {
		if n, err := strconv.Atoi(r.URL.Query().Get(name)); err == nil && n > 0 {
			return n
		}
		return otherwise
	}
	page, size := number("page", 1), min(number("per_page", 30), 100)
	s.mu.Lock()
	if s.pageSize > 0 {
		size = min(size, s.pageSize)
	}
	s.mu.Unlock()
	from := min((page-1)*size, len(all))
	to := min(from+size, len(all))
	if to < len(all) {
		q := r.URL.Query()
		q.Set("page", strconv.Itoa(page+1))
		next := s.URL + r.URL.Path + "?" + q.Encode()
		q.Set("page", strconv.Itoa((len(all)+size-1)/size))
		w.Header().Set("Link", fmt.Sprintf(`<%s>; rel="next", <%s>; rel="last"`, next, s.URL+r.URL.Path+"?"+q.Encode()))
	}
	out := []any{}
	for _, item := range all[from:to] {
		out = append(out, view(item))
	}
	writeJSON(w, 200, out)
}

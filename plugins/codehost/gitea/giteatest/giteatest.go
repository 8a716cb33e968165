// Package giteatest is a double of the API of Gitea and Forgejo for tests: repositories, accounts, releases, tags, stars, followers
// and notifications, with statuses, bodies and page links as its published description has them.
package giteatest

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
	UpdatedAt         time.Time
	// Releases and Tags are in the order in which they are given out.
	Releases   []Release
	Tags       []Tag
	Stargazers []string
	// Commits are the messages between two tags, by "base...head".
	Commits map[string][]string
}

// Release is a release of a repository. A draft is shown to a token alone.
type Release struct {
	ID                int64
	Tag, Name, Body   string
	At                time.Time
	Prerelease, Draft bool
}

// Tag is a tag of a repository.
type Tag struct {
	Name string
	At   time.Time
}

// Notification is a notification of an account.
type Notification struct {
	ID                int64
	Repo, Title, Type string
	UpdatedAt         time.Time
	Unread            bool
}

// Account is what an account has.
type Account struct {
	Starred, Followers []string
	Notifications      []Notification
}

// Server is the double. URL is its base_url.
type Server struct {
	*httptest.Server

	mu       sync.Mutex
	tokens   map[string]string
	repos    []*Repo
	accounts map[string]*Account
	instead  func(*http.Request) (status int, header map[string]string, body string)
	requests []string
	lastID   int64
	// maxPage is the most that the server gives at once.
	maxPage int
}

// New starts a double that ends with the test.
func New(t testing.TB) *Server {
	t.Helper()
	s := &Server{tokens: map[string]string{}, accounts: map[string]*Account{}, lastID: 100, maxPage: 50}
	mux := http.NewServeMux()
	for pattern, handle := range map[string]func(*http.Request) (any, int){
		"/user": s.answerUser, "/user/repos": s.answerOwnRepos, "/user/starred": s.answerStarred, "/user/followers": s.answerFollowers,
		"/notifications":       s.answerNotifications,
		"/users/{owner}/repos": s.ofUser, "/repos/{owner}/{name}": s.answerRepo, "/repos/{owner}/{name}/releases": s.answerReleases,
		"/repos/{owner}/{name}/tags":       s.answerTags,
		"/repos/{owner}/{name}/stargazers": s.answerStargazers, "/repos/{owner}/{name}/compare/{range}": s.answerCompare,
		"/version": func(*http.Request) (any, int) { return map[string]any{"version": "1.24.0"}, 200 },
	} {
		mux.HandleFunc("GET /api/v1"+pattern, func(w http.ResponseWriter, r *http.Request) { s.answerRequest(w, r, handle) })
	}
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) { writeJSON(w, 404, refusalBody("Not Found")) })
	s.Server = httptest.NewServer(mux)
	t.Cleanup(s.Close)
	return s
}

func writeJSON(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json;charset=utf-8")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body)
}

// refusalBody is the body of an answer without success.
func refusalBody(message string) map[string]any {
	return map[string]any{"message": message, "url": "https://gitea.example/api/swagger"}
}

// answerRequest answers a request, in pages where the answer is a list.
func (s *Server) answerRequest(w http.ResponseWriter, r *http.Request, handle func(*http.Request) (any, int)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests = append(s.requests, r.Method+" "+r.URL.RequestURI())
	if s.instead != nil {
		if status, header, body := s.instead(r); status != 0 {
			for name, value := range header {
				w.Header().Set(name, value)
			}
			w.WriteHeader(status)
			_, _ = w.Write([]byte(body))
			return
		}
	}
	if given := requestToken(r); given != "" && s.tokens[given] == "" {
		writeJSON(w, 401, refusalBody("user does not exist [uid: 0, name: ]"))
		return
	}
	body, status := handle(r)
	if all, ok := body.([]any); ok {
		body = s.cutPage(w, r, all)
	}
	writeJSON(w, status, body)
}

// cutPage returns the page of a list that a request asks for.
func (s *Server) cutPage(w http.ResponseWriter, r *http.Request, all []any) []any {
	number, _ := strconv.Atoi(r.URL.Query().Get("page"))
	limit, _ := strconv.Atoi(r.URL.Query().Get("limit"))
	number = max(number, 1)
	if limit <= 0 || limit > s.maxPage {
		limit = min(30, s.maxPage)
	}
	from := min((number-1)*limit, len(all))
	to := min(from+limit, len(all))
	w.Header().Set("X-Total-Count", strconv.Itoa(len(all)))
	if to < len(all) {
		next := *r.URL
		query := next.Query()
		query.Set("page", strconv.Itoa(number+1))
		next.RawQuery = query.Encode()
		w.Header().Set("Link", fmt.Sprintf(`<%s%s>; rel="next",<%s%s>; rel="last"`, s.URL, next.RequestURI(), s.URL, next.RequestURI()))
	}
	return append([]any{}, all[from:to]...)
}

func requestToken(r *http.Request) string {
	return strings.TrimPrefix(r.Header.Get("Authorization"), "token ")
}

// loginFrom returns whose the token of a request is. The caller holds the lock.
func (s *Server) loginFrom(r *http.Request) string { return s.tokens[requestToken(r)] }

// Token makes a token of a person known.
func (s *Server) Token(token, login string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tokens[token] = login
}

// AddRepo adds a repository.
func (s *Server) AddRepo(r Repo) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if r.ID == 0 {
		s.lastID++
		r.ID = s.lastID
	}
	s.repos = append(s.repos, &r)
}

// Change changes what a repository has.
func (s *Server) Change(fullName string, change func(*Repo)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, r := range s.repos {
		if r.FullName == fullName {
			change(r)
		}
	}
}

// SetAccount sets what an account has.
func (s *Server) SetAccount(login string, a Account) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.accounts[login] = &a
}

// Instead sets what answers requests in the place of the double; status 0 leaves one to it.
func (s *Server) Instead(f func(*http.Request) (status int, header map[string]string, body string)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.instead = f
}

// SetMaxPage sets the most items that the server gives at once (50).
func (s *Server) SetMaxPage(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.maxPage = n
}

// Requests are the requests so far: method and target.
func (s *Server) Requests() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.requests)
}

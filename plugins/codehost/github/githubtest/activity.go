package githubtest

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Account is an account of the double, with what belongs to it.
type Account struct {
	ID    int64
	Login string
	// Scopes are those of its tokens.
	Scopes        []string
	Starred       []Star
	Followers     []string
	Notifications []Notification
	// Events are those that the account receives, the latest first.
	Events []Event
}

// Star is a repository that an account has starred.
type Star struct {
	Repo string
	At   time.Time
}

// Notification is a thread of an inbox.
type Notification struct {
	ID, Repo, Title, Type, Reason, SubjectURL string
	UpdatedAt                                 time.Time
	Unread                                    bool
}

// Event is something that an account did. Type is "ForkEvent", "ReleaseEvent" or another one of the API.
type Event struct {
	ID, Type, Actor, Repo string
	// Fork is the full name of the fork; Tag that of the release.
	Fork, Tag string
	At        time.Time
}

// Release is a release of a repository.
type Release struct {
	ID              int64
	Tag, Name, Body string
	At              time.Time
	Prerelease      bool
	// Reactions are the logins of those who reacted, by the word of GraphQL.
	Reactions map[string][]string
}

// NodeID returns the id of a release in GraphQL.
func (r *Release) NodeID() string { return "RE_" + strconv.FormatInt(r.ID, 10) }

// Content is what a repository has besides what Repo says.
type Content struct {
	Releases    []*Release
	Tags        []string
	Stargazers  []Star // Repo holds the login
	Discussions []Discussion
	// Comparisons are the subjects of commits by "base...head".
	Comparisons map[string][]string
}

// Discussion is an entry of a repository's forum. Category is its slug.
type Discussion struct {
	ID, Category, Title, Body, Author string
	At                                time.Time
}

// Account returns an account, which is made if need be. Call it within Change.
func (s *state) Account(login string) *Account {
	if s.accounts[login] == nil {
		s.accounts[login] = &Account{ID: int64(100 + len(s.accounts)), Login: login}
	}
	return s.accounts[login]
}

// Content returns what a repository has. Call it within Change.
func (s *state) Content(repo string) *Content {
	key := strings.ToLower(repo)
	if s.content[key] == nil {
		s.content[key] = &Content{}
	}
	return s.content[key]
}

// Change changes the content of the double.
func (s *Server) Change(change func(*Server)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change(s)
}

// Quota is the rate limit of the double.
type Quota struct {
	Limit, Remaining int
	Reset            time.Time
	// RetryAfter, if set, makes every request end with a secondary limit.
	RetryAfter time.Duration
}

// SetQuota sets the rate limit. An answer 304 costs nothing.
func (s *state) SetQuota(q Quota) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.quota = &q
}

// Remaining returns how many requests are left.
func (s *state) Remaining() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.quota.Remaining
}

// withRateLimit wraps a handler with the rate limit and conditional requests. An answer to GET has an ETag, and is 304 without a
// body if the request names it.
func (s *Server) withRateLimit(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if s.refuseOverLimit(w) {
			return
		}
		rec := httptest.NewRecorder()
		next.ServeHTTP(rec, r)
		for name, values := range rec.Header() {
			w.Header()[name] = values
		}
		body, status := rec.Body.Bytes(), rec.Code
		if r.Method == http.MethodGet && status == http.StatusOK {
			sum := sha256.Sum256(append([]byte(tokenFrom(r)), body...))
			etag := `W/"` + hex.EncodeToString(sum[:]) + `"`
			w.Header().Set("Etag", etag)
			if r.Header.Get("If-None-Match") == etag {
				status, body = http.StatusNotModified, nil
				w.Header().Del("Content-Type")
			}
		}
		s.chargeRequest(w, status != http.StatusNotModified)
		w.WriteHeader(status)
		_, _ = w.Write(body)
	})
}

// refuseOverLimit answers a request over the limit.
func (s *state) refuseOverLimit(w http.ResponseWriter) bool {
	s.mu.Lock()
	q := s.quota
	var limit Quota
	if q != nil {
		limit = *q
	}
	s.mu.Unlock()
	switch {
	case q == nil:
		return false
	case limit.RetryAfter > 0:
		w.Header().Set("Retry-After", strconv.Itoa(int(limit.RetryAfter.Seconds())))
		writeError(w, 403, "You have exceeded a secondary rate limit. Please wait a few minutes before you try again.")
	case limit.Remaining <= 0:
		s.chargeRequest(w, false)
		writeError(w, 403, "API rate limit exceeded for user ID 1.")
	default:
		return false
	}
	return true
}

// chargeRequest writes the headers of the rate limit, and counts the request if it costs something.
func (s *state) chargeRequest(w http.ResponseWriter, costs bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.quota == nil {
		return
	}
	if costs {
		s.quota.Remaining--
	}
	h := w.Header()
	h.Set("X-RateLimit-Limit", strconv.Itoa(s.quota.Limit))
	h.Set("X-RateLimit-Remaining", strconv.Itoa(s.quota.Remaining))
	h.Set("X-RateLimit-Used", strconv.Itoa(s.quota.Limit-s.quota.Remaining))
	h.Set("X-RateLimit-Reset", strconv.FormatInt(s.quota.Reset.Unix(), 10))
	h.Set("X-RateLimit-Resource", "core")
}

// viewAccount returns an account as the REST API shows it.
func (s *state) viewAccount(login string) map[string]any {
	s.mu.Lock()
	defer s.mu.Unlock()
	a := s.Account(login)
	return viewUser(a.ID, login)
}

// requireAccount returns a copy of the account of a request's token; without one the request is answered.
func (s *state) requireAccount(w http.ResponseWriter, r *http.Request) (Account, bool) {
	login := s.loginFrom(r)
	if login == "" {
		writeError(w, 401, "Requires authentication")
		return Account{}, false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return *s.Account(login), true
}

// findContent returns a copy of what a path's repository has; without one the request is answered.
func (s *state) findContent(w http.ResponseWriter, r *http.Request) (string, Content, bool) {
	repo, ok := s.findNamedRepo(w, r)
	if !ok {
		return "", Content{}, false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	c := *s.Content(repo.FullName)
	c.Releases = slices.Clone(c.Releases)
	return repo.FullName, c, true
}

func decodeBody(r *http.Request, out any) bool { return json.NewDecoder(r.Body).Decode(out) == nil }

package githubtest

import (
	"net/http"
	"slices"
	"strings"
)

func (r Repo) owner() string {
	owner, _, _ := strings.Cut(r.FullName, "/")
	return owner
}

// see are the repositories that a request may see: private ones with a token only.
func (s *Server) see(r *http.Request, match func(Repo) bool) []Repo {
	s.mu.Lock()
	defer s.mu.Unlock()
	seen := slices.DeleteFunc(slices.Clone(s.repos), func(repo Repo) bool { return repo.Private && token(r) == "" || !match(repo) })
	for i := range seen {
		seen[i].stars = len(s.Content(seen[i].FullName).Stargazers)
	}
	return seen
}

func of(owner string) func(Repo) bool {
	return func(r Repo) bool { return strings.EqualFold(r.owner(), owner) }
}

func (s *Server) login(r *http.Request) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.tokens[token(r)]
}

func (s *Server) org(login string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.orgs[strings.ToLower(login)]
}

func (s *Server) me(w http.ResponseWriter, r *http.Request) {
	if s.login(r) == "" {
		fail(w, 401, "Requires authentication")
		return
	}
	a, _ := s.account(w, r)
	w.Header().Set("X-OAuth-Scopes", strings.Join(a.Scopes, ", "))
	reply(w, 200, viewViewer(a.ID, a.Login))
}

func (s *Server) mine(w http.ResponseWriter, r *http.Request) {
	if s.login(r) == "" {
		fail(w, 401, "Requires authentication")
		return
	}
	paged(s, w, r, s.see(r, of(s.login(r))), Repo.view)
}

func (s *Server) ofOrg(w http.ResponseWriter, r *http.Request) {
	if !s.org(r.PathValue("owner")) {
		fail(w, 404, "Not Found")
		return
	}
	paged(s, w, r, s.see(r, of(r.PathValue("owner"))), Repo.view)
}

func (s *Server) ofUser(w http.ResponseWriter, r *http.Request) {
	// Somebody else's private repositories are never listed here.
	found := s.see(r, of(r.PathValue("owner")))
	if len(found) == 0 {
		fail(w, 404, "Not Found")
		return
	}
	paged(s, w, r, slices.DeleteFunc(found, func(r Repo) bool { return r.Private }), Repo.view)
}

// named is the repository of a path; without it the request is answered.
func (s *Server) named(w http.ResponseWriter, r *http.Request) (Repo, bool) {
	full := r.PathValue("owner") + "/" + r.PathValue("name")
	found := s.see(r, func(r Repo) bool { return strings.EqualFold(r.FullName, full) })
	if len(found) == 0 {
		fail(w, 404, "Not Found")
		return Repo{}, false
	}
	return found[0], true
}

func (s *Server) repo(w http.ResponseWriter, r *http.Request) {
	if repo, ok := s.named(w, r); ok {
		reply(w, 200, repo.view())
	}
}

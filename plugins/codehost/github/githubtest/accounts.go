package githubtest

import (
	"net/http"
	"slices"
	"strings"
)

func (r Repo) ownerLogin() string {
	owner, _, _ := strings.Cut(r.FullName, "/")
	return owner
}

// visibleRepos are the repositories that a request may see: private ones with a token only.
func (s *state) visibleRepos(r *http.Request, match func(Repo) bool) []Repo {
	s.mu.Lock()
	defer s.mu.Unlock()
	seen := slices.DeleteFunc(slices.Clone(s.repos), func(repo Repo) bool { return repo.Private && tokenFrom(r) == "" || !match(repo) })
	for i := range seen {
		seen[i].stars = len(s.Content(seen[i].FullName).Stargazers)
	}
	return seen
}

func ownedBy(owner string) func(Repo) bool {
	return func(r Repo) bool { return strings.EqualFold(r.ownerLogin(), owner) }
}

func (s *state) loginFrom(r *http.Request) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.tokens[tokenFrom(r)]
}

func (s *state) isOrg(login string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.orgs[strings.ToLower(login)]
}

func (s *Server) answerUser(w http.ResponseWriter, r *http.Request) {
	if s.loginFrom(r) == "" {
		writeError(w, 401, "Requires authentication")
		return
	}
	a, _ := s.requireAccount(w, r)
	w.Header().Set("X-OAuth-Scopes", strings.Join(a.Scopes, ", "))
	writeJSON(w, 200, viewViewer(a.ID, a.Login))
}

func (s *Server) answerOwnRepos(w http.ResponseWriter, r *http.Request) {
	if s.loginFrom(r) == "" {
		writeError(w, 401, "Requires authentication")
		return
	}
	writePage(s, w, r, s.visibleRepos(r, ownedBy(s.loginFrom(r))), Repo.viewRepo)
}

func (s *Server) ofOrg(w http.ResponseWriter, r *http.Request) {
	if !s.isOrg(r.PathValue("owner")) {
		writeError(w, 404, "Not Found")
		return
	}
	writePage(s, w, r, s.visibleRepos(r, ownedBy(r.PathValue("owner"))), Repo.viewRepo)
}

func (s *Server) ofUser(w http.ResponseWriter, r *http.Request) {
	// Somebody else's private repositories are never listed here.
	found := s.visibleRepos(r, ownedBy(r.PathValue("owner")))
	if len(found) == 0 {
		writeError(w, 404, "Not Found")
		return
	}
	writePage(s, w, r, slices.DeleteFunc(found, func(r Repo) bool { return r.Private }), Repo.viewRepo)
}

// findNamedRepo is the repository of a path; without it the request is answered.
func (s *state) findNamedRepo(w http.ResponseWriter, r *http.Request) (Repo, bool) {
	full := r.PathValue("owner") + "/" + r.PathValue("name")
	found := s.visibleRepos(r, func(r Repo) bool { return strings.EqualFold(r.FullName, full) })
	if len(found) == 0 {
		writeError(w, 404, "Not Found")
		return Repo{}, false
	}
	return found[0], true
}

func (s *Server) answerRepo(w http.ResponseWriter, r *http.Request) {
	if repo, ok := s.findNamedRepo(w, r); ok {
		writeJSON(w, 200, repo.viewRepo())
	}
}

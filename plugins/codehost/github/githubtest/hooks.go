package githubtest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
)

func (h Hook) viewHook() any {
	return withLinks(map[string]any{
		"type": "Repository", "id": h.ID, "name": "web", "active": h.Active, "events": h.Events,
		"config":     map[string]any{"url": h.URL, "content_type": h.ContentType, "insecure_ssl": h.InsecureSSL, "secret": "********"},
		"updated_at": "2026-01-02T03:04:05Z", "created_at": "2026-01-02T03:04:05Z",
		"last_response": map[string]any{"code": nil, "status": "unused", "message": nil},
	}, fmt.Sprintf("%s/repos/x/y/hooks/%d", apiURL, h.ID), "ping test")
}

// spec is the body of a request that makes or changes a webhook.
type spec struct {
	Name   string
	Active *bool
	Events []string
	Config struct {
		URL         string `json:"url"`
		ContentType string `json:"content_type"`
		Secret      string `json:"secret"`
		InsecureSSL string `json:"insecure_ssl"`
	}
}

func (s spec) applyTo(h Hook) Hook {
	h.URL, h.ContentType, h.Secret, h.InsecureSSL = s.Config.URL, s.Config.ContentType, s.Config.Secret, s.Config.InsecureSSL
	if s.Events != nil {
		h.Events = s.Events
	}
	if s.Active != nil {
		h.Active = *s.Active
	}
	return h
}

// administeredRepo is the repository of a path whose webhooks the request may see.
func (s *state) administeredRepo(w http.ResponseWriter, r *http.Request) (string, bool) {
	repo, ok := s.findNamedRepo(w, r)
	if ok && s.loginFrom(r) == "" {
		writeError(w, 404, "Not Found")
		return "", false
	}
	return strings.ToLower(repo.FullName), ok
}

func (s *Server) listHooks(w http.ResponseWriter, r *http.Request) {
	if repo, ok := s.administeredRepo(w, r); ok {
		writePage(s, w, r, s.Hooks(repo), Hook.viewHook)
	}
}

func (s *Server) createHook(w http.ResponseWriter, r *http.Request) {
	repo, ok := s.administeredRepo(w, r)
	if !ok {
		return
	}
	var in spec
	if json.NewDecoder(r.Body).Decode(&in) != nil {
		writeError(w, 400, "Problems parsing JSON")
		return
	}
	h := in.applyTo(Hook{Events: []string{"push"}, Active: true})
	switch {
	case h.URL == "":
		writeError(w, 422, "Validation Failed", map[string]string{"resource": "Hook", "field": "url", "code": "missing_field"})
		return
	case slices.ContainsFunc(s.Hooks(repo), func(o Hook) bool { return o.URL == h.URL && slices.Equal(o.Events, h.Events) }):
		writeError(w, 422, "Validation Failed", map[string]string{"resource": "Hook", "code": "custom",
			"message": "Hook already exists on this repository"})
		return
	}
	h.ID = s.AddHook(repo, h)
	writeJSON(w, 201, h.viewHook())
}

// editHook changes the webhook that a path names; do returns nil to take it away.
func (s *Server) editHook(w http.ResponseWriter, r *http.Request, do func(Hook) *Hook) {
	repo, ok := s.administeredRepo(w, r)
	if !ok {
		return
	}
	id, _ := strconv.ParseInt(r.PathValue("id"), 10, 64)
	s.mu.Lock()
	defer s.mu.Unlock()
	i := slices.IndexFunc(s.hooks[repo], func(h Hook) bool { return h.ID == id })
	if i < 0 {
		writeError(w, 404, "Not Found")
		return
	}
	changed := do(s.hooks[repo][i])
	if changed == nil {
		s.hooks[repo] = slices.Delete(s.hooks[repo], i, i+1)
		w.WriteHeader(204)
		return
	}
	s.hooks[repo][i] = *changed
	writeJSON(w, 200, changed.viewHook())
}

func (s *Server) updateHook(w http.ResponseWriter, r *http.Request) {
	var in spec
	if json.NewDecoder(r.Body).Decode(&in) != nil {
		writeError(w, 400, "Problems parsing JSON")
		return
	}
	s.editHook(w, r, func(h Hook) *Hook {
		h = in.applyTo(h)
		return &h
	})
}

func (s *Server) deleteHook(w http.ResponseWriter, r *http.Request) {
	s.editHook(w, r, func(Hook) *Hook { return nil })
}

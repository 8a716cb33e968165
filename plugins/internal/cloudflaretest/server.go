// Package cloudflaretest is a stand-in for the API of Cloudflare: zones, DNS records and Email Routing, as the published
// documentation of the API describes them. A request that it does not know, or whose body does not fit the schema, fails the
// test.
package cloudflaretest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// Token and Account are what the stand-in accepts; Worker is the one worker of the account.
const (
	Token   = "token-of-the-test-51c0"
	Account = "acc0000000000000000000000000000f"
	Worker  = "patchbay-mail"
)

// Server is the stand-in.
type Server struct {
	URL string

	t     testing.TB
	mu    sync.Mutex
	last  int
	zones map[string]*zone
	// taken are the names of zones of other accounts.
	taken    []string
	requests []string
}

type zone struct {
	id, name string
	records  []record
	rules    []rule
	catchAll map[string]any
}

// New runs a stand-in until the test ends.
func New(t testing.TB) *Server {
	t.Helper()
	s := &Server{t: t, zones: map[string]*zone{}}
	srv := httptest.NewServer(s.newHandler())
	t.Cleanup(srv.Close)
	s.URL = srv.URL + "/client/v4"
	return s
}

// AddZone adds a zone with a catch-all rule of its own and returns its id.
func (s *Server) AddZone(name string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.addZone(name).id
}

// TakeZone makes a name that of a zone of another account.
func (s *Server) TakeZone(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.taken = append(s.taken, name)
}

// CatchAll returns the catch-all rule of a zone as JSON.
func (s *Server) CatchAll(zoneID string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	raw, err := json.Marshal(s.zones[zoneID].catchAll)
	if err != nil {
		s.t.Error(err)
	}
	return string(raw)
}

// AddRule adds a rule that forwards mail for an address.
func (s *Server) AddRule(zoneID, address string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	z := s.zones[zoneID]
	z.rules = append(z.rules, rule{
		ID: s.newID(), Name: "forward", Enabled: true, Matchers: []matcher{{Type: "literal", Field: "to", Value: address}},
		Actions: []action{{Type: "forward", Value: []string{"ada@example.net"}}},
	})
}

// Requests returns method and path of the requests so far.
func (s *Server) Requests() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.requests)
}

func (s *Server) newID() string {
	s.last++
	return fmt.Sprintf("%032x", s.last)
}

func (s *Server) addZone(name string) *zone {
	z := &zone{id: s.newID(), name: name, catchAll: map[string]any{
		"id": s.newID(), "tag": "old-tag", "name": "catch all of " + name, "enabled": true, "source": "api",
		"matchers": []any{map[string]any{"type": "all"}}, "actions": []any{map[string]any{"type": "forward", "value": []any{"ada@example.net"}}},
	}}
	s.zones[z.id] = z
	return z
}

func (s *Server) newHandler() http.Handler {
	mux := http.NewServeMux()
	handle := func(pattern string, do func(w http.ResponseWriter, r *http.Request, z *zone)) {
		method, path, _ := strings.Cut(pattern, " ")
		mux.HandleFunc(method+" /client/v4"+path, func(w http.ResponseWriter, r *http.Request) {
			z := s.zones[r.PathValue("zone")]
			if r.PathValue("zone") != "" && z == nil {
				writeRefusal(w, http.StatusNotFound, 7003, "Could not route to the zone, perhaps your object identifier is invalid?")
				return
			}
			do(w, r, z)
		})
	}
	handle("GET /zones", s.listZones)
	handle("POST /zones", s.createZone)
	handle("GET /zones/{zone}", func(w http.ResponseWriter, _ *http.Request, z *zone) { writeResult(w, z.viewZone()) })
	handle("DELETE /zones/{zone}", s.deleteZone)
	handle("GET /zones/{zone}/dns_records", s.listRecords)
	handle("POST /zones/{zone}/dns_records/batch", s.changeRecords)
	s.handleRouting(handle)
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		s.t.Errorf("a request that the API does not have: %s %s", r.Method, r.URL)
		writeRefusal(w, http.StatusBadRequest, 7000, "No route for that URI")
	})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.requests = append(s.requests, r.Method+" "+r.URL.Path)
		if r.Header.Get("Authorization") != "Bearer "+Token {
			writeRefusal(w, http.StatusUnauthorized, 10000, "Authentication error")
			return
		}
		mux.ServeHTTP(w, r)
	})
}

// readBody decodes a body. Members that the schema does not have fail the test.
func (s *Server) readBody(r *http.Request, into any) {
	s.requireTrue(r, r.Header.Get("Content-Type") == "application/json", "the body is not application/json")
	d := json.NewDecoder(r.Body)
	d.DisallowUnknownFields()
	err := d.Decode(into)
	s.requireTrue(r, err == nil && !d.More(), fmt.Sprintf("the body does not fit the schema: %v", err))
}

// requireTrue fails the test unless ok.
func (s *Server) requireTrue(r *http.Request, ok bool, what string) {
	if !ok {
		s.t.Errorf("%s %s: %s", r.Method, r.URL.Path, what)
	}
}

// writePage answers one page of a list. Parameters beside those of pages and allowed fail the test.
func (s *Server) writePage(w http.ResponseWriter, r *http.Request, all any, allowed ...string) {
	query := r.URL.Query()
	for name := range query {
		s.requireTrue(r, slices.Contains(append(allowed, "page", "per_page"), name), "there is no parameter "+name)
	}
	page, pageErr := strconv.Atoi(query.Get("page"))
	size, sizeErr := strconv.Atoi(query.Get("per_page"))
	s.requireTrue(r, pageErr == nil && page >= 1 && sizeErr == nil && size >= 5 && size <= 50,
		"page and per_page must be 1 or more, and 5 to 50")
	items := reflect.ValueOf(all)
	from := min((page-1)*size, items.Len())
	to := min(from+size, items.Len())
	result := items.Slice(from, to).Interface()
	if from == to {
		result = []any{}
	}
	writeJSON(w, http.StatusOK, map[string]any{
		"success": true, "errors": []any{}, "messages": []any{}, "result": result,
		"result_info": map[string]int{"page": page, "per_page": size, "count": to - from, "total_count": items.Len(),
			"total_pages": (items.Len() + size - 1) / size},
	})
}

func writeResult(w http.ResponseWriter, result any) {
	writeJSON(w, http.StatusOK, map[string]any{"success": true, "errors": []any{}, "messages": []any{}, "result": result})
}

func writeRefusal(w http.ResponseWriter, status, code int, message string) {
	writeJSON(w, status, map[string]any{"success": false, "errors": []any{map[string]any{"code": code, "message": message}},
		"messages": []any{}, "result": nil})
}

func writeJSON(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body)
}

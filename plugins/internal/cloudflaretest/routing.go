package cloudflaretest

import (
	"net/http"
	"slices"
	"strings"
)

// rule is a routing rule in the words of the API.
type rule struct {
	ID       string    `json:"id,omitempty"`
	Name     string    `json:"name,omitempty"`
	Enabled  bool      `json:"enabled"`
	Matchers []matcher `json:"matchers"`
	Actions  []action  `json:"actions"`
	Priority int       `json:"priority,omitempty"`
}

type matcher struct {
	Type  string `json:"type"`
	Field string `json:"field,omitempty"`
	Value string `json:"value,omitempty"`
}

type action struct {
	Type  string   `json:"type"`
	Value []string `json:"value,omitempty"`
}

// handleFunc adds a route below the address of the API.
type handleFunc = func(pattern string, do func(w http.ResponseWriter, r *http.Request, z *zone))

func (s *Server) handleRouting(handle handleFunc) {
	const routing = "/zones/{zone}/email/routing"
	handle("POST "+routing+"/enable", func(w http.ResponseWriter, r *http.Request, z *zone) {
		s.readBody(r, &struct{}{})
		s.enableRouting(w, z, z.name)
	})
	handle("POST "+routing+"/disable", func(w http.ResponseWriter, r *http.Request, z *zone) {
		s.readBody(r, &struct{}{})
		z.records = slices.DeleteFunc(z.records, func(rec record) bool { return rec.locked && rec.Name == z.name })
		writeResult(w, map[string]any{"enabled": false, "name": z.name})
	})
	handle("POST "+routing+"/dns", func(w http.ResponseWriter, r *http.Request, z *zone) { s.enableRouting(w, z, s.readHost(r, z)) })
	handle("PATCH "+routing+"/dns", func(w http.ResponseWriter, r *http.Request, z *zone) {
		host := s.readHost(r, z)
		for i := range z.records {
			z.records[i].locked = z.records[i].locked && z.records[i].Name != host
		}
		writeResult(w, map[string]any{"enabled": true, "name": z.name})
	})
	handle("GET "+routing+"/rules", func(w http.ResponseWriter, r *http.Request, z *zone) { s.writePage(w, r, z.rules, "enabled") })
	handle("POST "+routing+"/rules", s.createRule)
	handle("DELETE "+routing+"/rules/{rule}", func(w http.ResponseWriter, r *http.Request, z *zone) {
		i := slices.IndexFunc(z.rules, func(k rule) bool { return k.ID == r.PathValue("rule") })
		if i < 0 {
			writeRefusal(w, http.StatusNotFound, 2008, "rule not found")
			return
		}
		found := z.rules[i]
		z.rules = slices.Delete(slices.Clone(z.rules), i, i+1)
		writeResult(w, found)
	})
	handle("GET "+routing+"/rules/catch_all", func(w http.ResponseWriter, _ *http.Request, z *zone) { writeResult(w, z.catchAll) })
	handle("PUT "+routing+"/rules/catch_all", s.putCatchAll)
}

func (s *Server) readHost(r *http.Request, z *zone) string {
	var in struct {
		Name string `json:"name"`
	}
	s.readBody(r, &in)
	s.requireTrue(r, strings.HasSuffix(in.Name, "."+z.name), "name must be that of a host below the zone, not "+in.Name)
	return in.Name
}

// enableRouting adds the records of Email Routing for a host, locked.
func (s *Server) enableRouting(w http.ResponseWriter, z *zone, host string) {
	has := slices.ContainsFunc(z.records, func(rec record) bool {
		return rec.Name == host &&
			strings.HasSuffix(rec.Content, ".mx.cloudflare.net")
	})
	if !has {
		for i, mx := range []string{"route1", "route2", "route3"} {
			priority := uint16(10 * (i + 1))
			z.records = append(z.records, record{ID: s.newID(), Name: host, Type: "MX", Content: mx + ".mx.cloudflare.net", TTL: 1,
				Priority: &priority, locked: true})
		}
		z.records = append(z.records, record{ID: s.newID(), Name: host, Type: "TXT", Content: `"v=spf1 include:_spf.mx.cloudflare.net ~all"`,
			TTL: 1, locked: true})
	}
	writeResult(w, map[string]any{"enabled": true, "name": z.name})
}

func (s *Server) checkRule(r *http.Request, in rule, catchAll bool) {
	s.requireTrue(r, len(in.Name) <= 256, "name is longer than 256")
	s.requireTrue(r, len(in.Matchers) > 0 && len(in.Actions) > 0, "matchers and actions must not be empty")
	for _, m := range in.Matchers {
		if catchAll {
			s.requireTrue(r, m == matcher{Type: "all"}, "the matcher of a catch-all must have the type all alone")
			continue
		}
		s.requireTrue(r, m.Type == "literal" && m.Field == "to" && m.Value != "" && len(m.Value) <= 90,
			"a matcher must be literal, to, an address of at most 90")
	}
	for _, a := range in.Actions {
		s.requireTrue(r, slices.Contains([]string{"drop", "forward", "worker"}, a.Type), "there is no action "+a.Type)
		s.requireTrue(r, a.Type == "drop" || len(a.Value) > 0, "an action needs a value")
		s.requireTrue(r, a.Type != "worker" || slices.Equal(a.Value, []string{Worker}), "there is no such worker")
	}
}

func (s *Server) createRule(w http.ResponseWriter, r *http.Request, z *zone) {
	var in rule
	s.readBody(r, &in)
	s.checkRule(r, in, false)
	s.requireTrue(r, in.ID == "", "a new rule has an id")
	for _, k := range z.rules {
		s.requireTrue(r, !slices.Equal(k.Matchers, in.Matchers), "there is a rule with these matchers")
	}
	in.ID = s.newID()
	z.rules = append(z.rules, in)
	writeResult(w, in)
}

func (s *Server) putCatchAll(w http.ResponseWriter, r *http.Request, z *zone) {
	var in rule
	s.readBody(r, &in)
	s.checkRule(r, in, true)
	z.catchAll["name"], z.catchAll["enabled"], z.catchAll["matchers"], z.catchAll["actions"] = in.Name, in.Enabled, in.Matchers, in.Actions
	writeResult(w, z.catchAll)
}

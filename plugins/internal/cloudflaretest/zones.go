package cloudflaretest

import (
	"net/http"
	"net/netip"
	"slices"
	"strings"
)

func (z *zone) viewZone() map[string]any {
	return map[string]any{"id": z.id, "name": z.name, "status": "active",
		"name_servers": []string{"ada.ns.example.net", "bob.ns.example.net"}, "type": "full"}
}

func (s *Server) listZones(w http.ResponseWriter, r *http.Request, _ *zone) {
	var found []map[string]any
	for _, z := range s.zones {
		if name := r.URL.Query().Get("name"); name == "" || name == z.name {
			found = append(found, z.viewZone())
		}
	}
	slices.SortFunc(found, func(a, b map[string]any) int { return strings.Compare(a["name"].(string), b["name"].(string)) })
	s.writePage(w, r, found, "name", "status", "account.id")
}

func (s *Server) createZone(w http.ResponseWriter, r *http.Request, _ *zone) {
	var in struct {
		Account struct {
			ID string `json:"id"`
		} `json:"account"`
		Name string `json:"name"`
		Type string `json:"type"`
	}
	s.readBody(r, &in)
	s.requireTrue(r, in.Account.ID == Account, "account.id must be that of the account")
	s.requireTrue(r, strings.Contains(in.Name, ".") && len(in.Name) <= 253, "name must be that of a zone")
	s.requireTrue(r, in.Type == "full", "type must be full")
	exists := slices.Contains(s.taken, in.Name)
	for _, z := range s.zones {
		exists = exists || z.name == in.Name
	}
	if exists {
		writeRefusal(w, http.StatusBadRequest, 1061, in.Name+" already exists.")
		return
	}
	writeResult(w, s.addZone(in.Name).viewZone())
}

func (s *Server) deleteZone(w http.ResponseWriter, _ *http.Request, z *zone) {
	delete(s.zones, z.id)
	writeResult(w, map[string]string{"id": z.id})
}

// record is a record in the words of the API.
type record struct {
	ID       string  `json:"id"`
	Name     string  `json:"name"`
	Type     string  `json:"type"`
	Content  string  `json:"content"`
	TTL      int     `json:"ttl"`
	Priority *uint16 `json:"priority,omitempty"`
	Proxied  *bool   `json:"proxied,omitempty"`
	// locked records belong to Email Routing and cannot be changed.
	locked bool
}

func (s *Server) listRecords(w http.ResponseWriter, r *http.Request, z *zone) {
	var found []record
	query := r.URL.Query()
	for _, rec := range z.records {
		if (query.Get("name") == "" || strings.EqualFold(query.Get("name"), rec.Name)) &&
			(query.Get("type") == "" || query.Get("type") == rec.Type) {
			found = append(found, rec)
		}
	}
	s.writePage(w, r, found, "name", "type", "content")
}

// checkRecord checks a record that is to be.
func (s *Server) checkRecord(r *http.Request, z *zone, rec record) {
	s.requireTrue(r, rec.Name == z.name || strings.HasSuffix(rec.Name, "."+z.name), "the name "+rec.Name+" is not in the zone")
	s.requireTrue(r, rec.TTL == 1 || rec.TTL >= 60 && rec.TTL <= 86400, "ttl must be 1 or 60 to 86400")
	addr, err := netip.ParseAddr(rec.Content)
	isName := err != nil && rec.Content != "" && !strings.ContainsAny(rec.Content, ` "`)
	switch rec.Type {
	case "A":
		s.requireTrue(r, err == nil && addr.Is4(), "the content of an A must be an IPv4 address, not "+rec.Content)
	case "AAAA":
		s.requireTrue(r, err == nil && addr.Is6(), "the content of an AAAA must be an IPv6 address, not "+rec.Content)
	case "CNAME":
		s.requireTrue(r, isName, "the content of a CNAME must be a name, not "+rec.Content)
	case "MX":
		s.requireTrue(r, rec.Priority != nil && isName, "an MX must have a priority and a name")
	case "TXT":
		s.requireTrue(r, strings.HasPrefix(rec.Content, `"`) && strings.HasSuffix(rec.Content, `"`),
			"the content of a TXT should be quoted, not "+rec.Content)
	default:
		s.requireTrue(r, false, "there is no type "+rec.Type)
	}
	s.requireTrue(r, rec.Type == "MX" || rec.Priority == nil, "only an MX has a priority")
	s.requireTrue(r, rec.Proxied == nil || slices.Contains([]string{"A", "AAAA", "CNAME"}, rec.Type), "a "+rec.Type+" cannot be proxied")
}

// exclusionCode returns the refusal of a new record beside another one; 0 if there is none.
func (rec record) exclusionCode(other record) (code int) {
	switch {
	case other.Name != rec.Name:
		return 0
	case (other.Type == "CNAME") != (rec.Type == "CNAME"):
		return 81053
	case other.Type == rec.Type && other.Content == rec.Content && (rec.Priority == nil || *rec.Priority == *other.Priority):
		return 81058
	}
	return 0
}

// changeRecords makes all changes of a batch or none: deletes, then puts, then posts.
func (s *Server) changeRecords(w http.ResponseWriter, r *http.Request, z *zone) {
	var in struct {
		Deletes []struct {
			ID string `json:"id"`
		} `json:"deletes"`
		Puts  []record `json:"puts"`
		Posts []record `json:"posts"`
	}
	s.readBody(r, &in)
	s.requireTrue(r, len(in.Deletes)+len(in.Puts)+len(in.Posts) > 0, "the batch is empty")
	records := slices.Clone(z.records)
	find := func(id string) int {
		return slices.IndexFunc(records, func(rec record) bool { return rec.ID == id && !rec.locked })
	}
	missing := false
	for _, d := range in.Deletes {
		i := find(d.ID)
		if missing = missing || i < 0; i >= 0 {
			records = slices.Delete(records, i, i+1)
		}
	}
	for _, rec := range in.Puts {
		s.checkRecord(r, z, rec)
		i := find(rec.ID)
		if missing = missing || i < 0; i >= 0 {
			records[i] = rec
		}
	}
	if missing {
		writeRefusal(w, http.StatusBadRequest, 81044, "Record does not exist, or is read only.")
		return
	}
	for _, rec := range in.Posts {
		s.requireTrue(r, rec.ID == "", "a new record has an id")
		s.checkRecord(r, z, rec)
		for _, other := range records {
			if code := rec.exclusionCode(other); code != 0 {
				writeRefusal(w, http.StatusBadRequest, code, "A record with that host already exists.")
				return
			}
		}
		rec.ID = s.newID()
		records = append(records, rec)
	}
	z.records = records
	writeResult(w, map[string]any{"deletes": in.Deletes, "puts": in.Puts, "posts": in.Posts})
}

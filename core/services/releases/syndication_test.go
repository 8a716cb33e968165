package releases_test

import (
	"encoding/json"
	"encoding/xml"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/mmcdole/gofeed"

	"github.com/patchbay-dev/patchbay/core/auth"
	"github.com/patchbay-dev/patchbay/sdk/codehost"
)

// addFeed makes a feed for readers of Ada and returns its token.
func (s *server) addFeed(body dict) (token string, answer dict) {
	s.Helper()
	answer = s.want(200, "", s.adaCookie, http.MethodPost, "/api/feed-tokens", body)
	return answer["token"].(string), answer
}

// TestSyndication reads feeds as readers do, in both formats.
func TestSyndication(t *testing.T) {
	forEach(t, func(t *testing.T, s *server) {
		s.addRepo("acme/engine", day, 3)
		s.addRepo("acme/loom", day, 1)
		s.publish("acme/loom", codehost.Release{
			ID: "x", TagName: "v2.0.0-rc.1", Name: "Bold & <b>new</b>\x01",
			Body: "## Notes\n\n<script>alert(1)</script>\n\n[link](/docs) & ]]> 中文", HTMLURL: "https://codehost.example/l?a=1&b=2",
			PublishedAt: day.Add(9 * time.Hour), Prerelease: true,
		})
		s.runJob("releases.sync_due")
		token, made := s.addFeed(dict{"name": "Everything <1>"})
		if made["atom_url"] != "https://patchbay.example.com/releases/api/feed.atom?token="+token || !strings.HasPrefix(token, "svc_ft_") ||
			len(token) < 40 {
			t.Errorf("got %v", made)
		}
		atom := s.send("", http.MethodGet, "/api/feed.atom?token="+token, nil)
		if atom.status != 200 || atom.header.Get("Content-Type") != "application/atom+xml; charset=utf-8" {
			t.Fatalf("got %d %v", atom.status, atom.header)
		}
		checkAtom(t, atom.body, 5)
		raw := s.send("", http.MethodGet, "/api/feed.json", nil, "Authorization", "Bearer "+token)
		if raw.status != 200 || raw.header.Get("Content-Type") != "application/feed+json; charset=utf-8" {
			t.Fatalf("got %d %v", raw.status, raw.header)
		}
		checkJSONFeed(t, raw.body, 5)
		for _, body := range [][]byte{atom.body, raw.body} {
			parsed, err := gofeed.NewParser().ParseString(string(body))
			if err != nil || parsed.Title != "Everything <1>" || len(parsed.Items) != 5 ||
				parsed.Items[0].Link != "https://codehost.example/l?a=1&b=2" || !parsed.Items[0].PublishedParsed.Equal(day.Add(9*time.Hour)) {
				t.Errorf("a reader finds %+v, %v", parsed, err)
				continue
			}
			html := parsed.Items[0].Content
			if strings.Contains(html, "<script") || !strings.Contains(html, "中文") {
				t.Errorf("got %s", html)
			}
		}
		if n := strings.Count(string(atom.body), token); n != 1 ||
			!strings.Contains(string(atom.body), `<link rel="self" href="https://patchbay.example.com/releases/api/feed.atom?token=`+token+`">`) {
			t.Errorf("the token stands %d times in the feed, want in the link to itself", n)
		}
		if strings.Contains(string(raw.body), token) ||
			!strings.Contains(string(raw.body), `"feed_url":"https://patchbay.example.com/releases/api/feed.json"`) {
			t.Errorf("a feed that was asked for without a token in its address has %s", raw.body)
		}
		checkConditionalFeed(t, s, token, atom)
		checkFeedTokens(t, s, token, made["id"].(string))
	}, withRepos("acme/engine", "acme/loom"))
}

// checkAtom holds a document against what RFC 4287 asks for.
func checkAtom(t *testing.T, raw []byte, entries int) {
	t.Helper()
	type node struct {
		XMLName xml.Name
		Attrs   []xml.Attr `xml:",any,attr"`
		Text    string     `xml:",chardata"`
		Nodes   []struct {
			XMLName xml.Name
			Attrs   []xml.Attr `xml:",any,attr"`
			Text    string     `xml:",chardata"`
			Nodes   []struct {
				XMLName xml.Name
				Attrs   []xml.Attr `xml:",any,attr"`
				Text    string     `xml:",chardata"`
			} `xml:",any"`
		} `xml:",any"`
	}
	var doc node
	must(t, xml.Unmarshal(raw, &doc))
	const space = "http://www.w3.org/2005/Atom"
	count, seen := map[string]int{}, map[string]bool{}
	if doc.XMLName.Space != space || doc.XMLName.Local != "feed" {
		t.Errorf("the document is a %v", doc.XMLName)
	}
	checkID := func(id string) {
		if u, err := url.Parse(id); err != nil || !u.IsAbs() || seen[id] {
			t.Errorf("%q is no IRI of its own", id)
		}
		seen[id] = true
	}
	checkTime := func(text string) {
		if _, err := time.Parse(time.RFC3339, text); err != nil {
			t.Error(err)
		}
	}
	for _, n := range doc.Nodes {
		count[n.XMLName.Local]++
		switch n.XMLName.Local {
		case "id":
			checkID(n.Text)
		case "updated":
			checkTime(n.Text)
		case "entry":
			inner := map[string]int{}
			for _, e := range n.Nodes {
				inner[e.XMLName.Local]++
				switch e.XMLName.Local {
				case "id":
					checkID(e.Text)
				case "updated", "published":
					checkTime(e.Text)
				case "content":
					if len(e.Attrs) != 1 || e.Attrs[0].Value != "html" {
						t.Errorf("the content has %v", e.Attrs)
					}
				}
			}
			if inner["id"] != 1 || inner["title"] != 1 || inner["updated"] != 1 || inner["published"] != 1 || inner["content"] != 1 ||
				inner["author"] != 1 {
				t.Errorf("an entry has %v", inner)
			}
		}
	}
	if count["id"] != 1 || count["title"] != 1 || count["updated"] != 1 || count["author"] != 1 || count["entry"] != entries {
		t.Errorf("the feed has %v", count)
	}
}

// checkJSONFeed holds a document against what JSON Feed 1.1 asks for.
func checkJSONFeed(t *testing.T, raw []byte, items int) {
	t.Helper()
	var doc struct {
		Version, Title string
		Home           string `json:"home_page_url"`
		Items          []struct {
			ID        string
			URL       string
			HTML      *string `json:"content_html"`
			Published string  `json:"date_published"`
			Authors   []struct{ Name string }
			Tags      []string
		}
	}
	must(t, json.Unmarshal(raw, &doc))
	if doc.Version != "https://jsonfeed.org/version/1.1" || doc.Title == "" || doc.Home != "https://patchbay.example.com/releases/feed" ||
		len(doc.Items) != items {
		t.Errorf("got %+v", doc)
	}
	seen := map[string]bool{}
	for _, i := range doc.Items {
		if _, err := time.Parse(time.RFC3339, i.Published); err != nil || i.ID == "" || seen[i.ID] || i.HTML == nil || len(i.Authors) != 1 ||
			i.Authors[0].Name == "" || len(i.Tags) == 0 {
			t.Errorf("got %+v, %v", i, err)
		}
		seen[i.ID] = true
	}
}

// checkConditionalFeed asks again with the ETag of a feed, before and after something new.
func checkConditionalFeed(t *testing.T, s *server, token string, first reply) {
	t.Helper()
	etag := first.header.Get("ETag")
	if got := s.send("", http.MethodGet, "/api/feed.atom?token="+token, nil, "If-None-Match", etag); got.status != 304 || len(got.body) != 0 {
		t.Errorf("got %d %s for %s", got.status, got.body, etag)
	}
	if got := s.send("", http.MethodHead, "/api/feed.atom?token="+token, nil); got.status != 200 || len(got.body) != 0 {
		t.Errorf("HEAD: got %d", got.status)
	}
	s.publish("acme/engine", newRelease("acme/engine", 9, day.AddDate(0, 0, 1)))
	s.clock.advance(fullInterval)
	s.runJob("releases.sync_due")
	if got := s.send("", http.MethodGet, "/api/feed.atom?token="+token, nil, "If-None-Match", etag); got.status != 200 ||
		got.header.Get("ETag") == etag {
		t.Errorf("got %d after something new", got.status)
	}
}

// checkFeedTokens looks at who may make, use and delete tokens.
func checkFeedTokens(t *testing.T, s *server, token, id string) {
	t.Helper()
	var stored string
	must(t, s.store.DB(t.Context()).Raw("SELECT hash || masked FROM release_feed_tokens").Scan(&stored).Error)
	if strings.Contains(stored, token) || len(stored) < 64 {
		t.Errorf("the token is stored as %q", stored)
	}
	scoped, _ := s.addFeed(dict{"types": "releases", "scope": "repos", "items": "acme/loom", "q": "v2*"})
	checkAtom(t, s.send("", http.MethodGet, "/api/feed.atom?token="+scoped, nil).body, 1)
	for _, body := range []dict{{"types": "x"}, {"scope": "repo"}, {"scope": "all"}, {"q": "after:soon"}, {"name": strings.Repeat("x", 81)}} {
		s.want(400, "bad_request", s.adaCookie, http.MethodPost, "/api/feed-tokens", body)
	}
	// A token reads its feed and nothing else; an API key makes none.
	s.want(403, "forbidden", s.ada, http.MethodPost, "/api/feed-tokens", dict{})
	s.want(401, "", "", http.MethodGet, "/api/feed?token="+token, nil)
	if got := s.send("", http.MethodGet, "/api/feed", nil, "Authorization", "Bearer "+token); got.status != 401 {
		t.Errorf("the token of a feed opens the API: %d", got.status)
	}
	for _, path := range []string{"/api/feed.atom", "/api/feed.json?token=svc_ft_unknown", "/api/feed.json?token=" + s.ada} {
		s.want(401, "invalid_feed_token", "", http.MethodGet, path, nil)
	}
	list := s.want(200, "", s.adaCookie, http.MethodGet, "/api/feed-tokens", nil)["tokens"].([]any)
	if len(list) != 2 || list[1].(dict)["id"] != id || list[1].(dict)["last_used_at"] == nil || list[1].(dict)["token"] != nil {
		t.Errorf("got %v", list)
	}
	s.want(404, "not_found", s.adaCookie, http.MethodDelete, "/api/feed-tokens/rft_unknown", nil)
	s.want(200, "", s.adaCookie, http.MethodDelete, "/api/feed-tokens/"+id, nil)
	s.want(401, "invalid_feed_token", "", http.MethodGet, "/api/feed.atom?token="+token, nil)
	disabled := true
	_, err := s.users.Change(t.Context(), s.adaID, auth.UserChange{Disabled: &disabled})
	must(t, err)
	s.want(403, "account_disabled", "", http.MethodGet, "/api/feed.atom?token="+scoped, nil)
}

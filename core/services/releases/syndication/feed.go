// Package syndication writes a feed for feed readers, as Atom (RFC 4287) and as JSON Feed 1.1.
package syndication

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"encoding/xml"
	"io"
	"strings"
	"time"
)

// The media types of the formats.
const (
	AtomType = "application/atom+xml"
	JSONType = "application/feed+json"
)

// Feed is what both formats say.
type Feed struct {
	// ID is an IRI that stays; see NewID.
	ID, Title string
	// HomeURL is the page of the feed, and SelfURL that of the document, as it was asked for; "" if the address is not known.
	HomeURL, SelfURL string
	Updated          time.Time
	Entries          []Entry
}

// Entry is an item of a feed.
type Entry struct {
	// ID is an IRI that stays; see NewID.
	ID, Title string
	// URL is the page of the item, "" for none. It is the base of the addresses in its text.
	URL string
	// HTML is the text, which must be sanitised; "" for none.
	HTML      string
	Published time.Time
	// Updated is when its content changed last.
	Updated   time.Time
	Author    string
	AuthorURL string
	Tags      []string
}

// NewID returns the IRI that the parts of a name stand for: the same for the same parts.
func NewID(parts ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(parts, "\x00")))
	// A UUID of version 8 is made as its maker likes, but for the bits of version and variant (RFC 9562).
	sum[6], sum[8] = sum[6]&0x0f|0x80, sum[8]&0x3f|0x80
	h := hex.EncodeToString(sum[:16])
	return "urn:uuid:" + h[:8] + "-" + h[8:12] + "-" + h[12:16] + "-" + h[16:20] + "-" + h[20:]
}

type (
	atomFeed struct {
		XMLName xml.Name    `xml:"http://www.w3.org/2005/Atom feed"`
		ID      string      `xml:"id"`
		Title   string      `xml:"title"`
		Updated string      `xml:"updated"`
		Author  atomPerson  `xml:"author"`
		Links   []atomLink  `xml:"link"`
		Entries []atomEntry `xml:"entry"`
	}
	atomEntry struct {
		Base       string         `xml:"xml:base,attr,omitempty"`
		ID         string         `xml:"id"`
		Title      string         `xml:"title"`
		Updated    string         `xml:"updated"`
		Published  string         `xml:"published"`
		Author     *atomPerson    `xml:"author"`
		Links      []atomLink     `xml:"link"`
		Categories []atomCategory `xml:"category"`
		Content    atomContent    `xml:"content"`
	}
	atomPerson struct {
		Name string `xml:"name"`
		URI  string `xml:"uri,omitempty"`
	}
	atomLink struct {
		Rel  string `xml:"rel,attr"`
		Href string `xml:"href,attr"`
	}
	atomCategory struct {
		Term string `xml:"term,attr"`
	}
	atomContent struct {
		Type string `xml:"type,attr"`
		Text string `xml:",chardata"`
	}
)

// addLink adds a link, unless its address is not known.
func addLink(links []atomLink, rel, url string) []atomLink {
	if url == "" {
		return links
	}
	return append(links, atomLink{rel, url})
}

// newAtomPerson returns an author; nil for none.
func newAtomPerson(name, url string) *atomPerson {
	if name == "" {
		return nil
	}
	return &atomPerson{name, url}
}

// WriteAtom writes a feed as Atom.
func WriteAtom(w io.Writer, f Feed) error {
	out := atomFeed{ID: f.ID, Title: f.Title, Updated: formatTime(f.Updated), Author: atomPerson{Name: f.Title},
		Links: addLink(addLink(nil, "alternate", f.HomeURL), "self", f.SelfURL)}
	for _, e := range f.Entries {
		entry := atomEntry{
			Base: e.URL, ID: e.ID, Title: e.Title, Updated: formatTime(e.Updated), Published: formatTime(e.Published),
			Author: newAtomPerson(e.Author, e.AuthorURL), Links: addLink(nil, "alternate", e.URL),
			Content: atomContent{"html", e.HTML},
		}
		for _, tag := range e.Tags {
			entry.Categories = append(entry.Categories, atomCategory{tag})
		}
		out.Entries = append(out.Entries, entry)
	}
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return err
	}
	return xml.NewEncoder(w).Encode(out)
}

type (
	jsonFeed struct {
		Version string     `json:"version"`
		Title   string     `json:"title"`
		HomeURL string     `json:"home_page_url,omitempty"`
		SelfURL string     `json:"feed_url,omitempty"`
		Items   []jsonItem `json:"items"`
	}
	jsonItem struct {
		ID        string       `json:"id"`
		URL       string       `json:"url,omitempty"`
		Title     string       `json:"title,omitempty"`
		HTML      string       `json:"content_html"`
		Published string       `json:"date_published"`
		Updated   string       `json:"date_modified"`
		Authors   []jsonAuthor `json:"authors,omitempty"`
		Tags      []string     `json:"tags,omitempty"`
	}
	jsonAuthor struct {
		Name string `json:"name"`
		URL  string `json:"url,omitempty"`
	}
)

// WriteJSON writes a feed as JSON Feed.
func WriteJSON(w io.Writer, f Feed) error {
	out := jsonFeed{Version: "https://jsonfeed.org/version/1.1", Title: f.Title, HomeURL: f.HomeURL, SelfURL: f.SelfURL,
		Items: make([]jsonItem, len(f.Entries))}
	for i, e := range f.Entries {
		out.Items[i] = jsonItem{ID: e.ID, URL: e.URL, Title: e.Title, HTML: e.HTML, Published: formatTime(e.Published),
			Updated: formatTime(e.Updated), Tags: e.Tags}
		if e.Author != "" {
			out.Items[i].Authors = []jsonAuthor{{e.Author, e.AuthorURL}}
		}
	}
	return json.NewEncoder(w).Encode(out)
}

// formatTime returns a time as both formats have it.
func formatTime(t time.Time) string { return t.UTC().Format(time.RFC3339) }

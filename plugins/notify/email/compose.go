package email

import (
	"bytes"
	_ "embed" // the document
	"html/template"
	"net/url"
	"strings"
	"time"

	gomail "github.com/wneessen/go-mail"

	"github.com/patchbay-dev/patchbay/plugins/internal/texts"
	"github.com/patchbay-dev/patchbay/sdk/notify"
)

//go:embed mail.html
var document string

func parseLayout() (*template.Template, error) { return template.New("mail").Parse(document) }

const (
	maxSubject = 300
	maxKind    = 120
)

// written is a mail as it goes over the wire.
type written struct {
	raw   []byte
	id    string
	parts []notify.Part
}

// composeMail writes the mail. The same notification has the same Message-ID and date each time.
func (c *channel) composeMail(n *notify.Notification, s *server) (*written, error) {
	plain, rich := plainText(n), &bytes.Buffer{}
	if err := c.layout.Execute(rich, newPage(n)); err != nil {
		return nil, err
	}
	at := n.SentAt
	if at.IsZero() {
		at = time.Now()
	}
	id := n.ID + s.from.Address[strings.LastIndexByte(s.from.Address, '@'):]
	m := gomail.NewMsg(gomail.WithNoDefaultUserAgent(), gomail.WithEncoding(gomail.EncodingB64))
	m.FromMailAddress(s.from)
	m.ToMailAddress(s.to...)
	m.Subject(texts.Truncate(c.cfg.SubjectPrefix+oneLine(n.Title.Plain), maxSubject))
	m.SetDateWithValue(at.UTC())
	m.SetMessageIDWithValue(id)
	m.SetGenHeader("Auto-Submitted", "auto-generated")
	m.SetGenHeader("X-Patchbay-Kind", texts.Truncate(oneLine(n.Kind), maxKind))
	m.SetBodyString(gomail.TypeTextPlain, plain, gomail.WithPartEncoding(encodingFor(plain)))
	m.AddAlternativeString(gomail.TypeTextHTML, rich.String(), gomail.WithPartEncoding(encodingFor(rich.String())))
	var raw bytes.Buffer
	if _, err := m.WriteTo(&raw); err != nil {
		return nil, err
	}
	return &written{raw: raw.Bytes(), id: "<" + id + ">", parts: n.TextParts()}, nil
}

// encodingFor keeps what is mostly ASCII readable in the source.
func encodingFor(s string) gomail.Encoding {
	wide := 0
	for i := range len(s) {
		if s[i] >= 0x80 {
			wide++
		}
	}
	if wide > len(s)/5 {
		return gomail.EncodingB64
	}
	return gomail.EncodingQP
}

// plainText returns the plain part.
func plainText(n *notify.Notification) string {
	var blocks []string
	for _, s := range []string{oneLine(n.Title.Plain), n.Summary.Plain, n.Detail.Plain} {
		if s = strings.TrimSpace(s); s != "" {
			blocks = append(blocks, s)
		}
	}
	var lines []string
	for _, l := range n.Links {
		if label := linkLabel(l); label != l.URL {
			lines = append(lines, label+": "+l.URL)
			continue
		}
		lines = append(lines, l.URL)
	}
	if len(lines) > 0 {
		blocks = append(blocks, strings.Join(lines, "\n"))
	}
	return strings.ToValidUTF8(strings.Join(blocks, "\n\n"), "\ufffd") + "\n"
}

func linkLabel(l notify.Link) string {
	if label := oneLine(l.Label); label != "" {
		return label
	}
	return l.URL
}

// page is what the document shows.
type page struct {
	Title, Severity string
	Summary, Detail template.HTML
	Links           []pageLink
}

type pageLink struct {
	Label, URL string
	// First is the one that is shown as a button. Clickable is false for what is not absolute.
	First, Clickable bool
}

func newPage(n *notify.Notification) *page {
	p := &page{Title: oneLine(n.Title.Plain), Severity: n.Severity.String(), Summary: toHTML(n.Summary), Detail: toHTML(n.Detail)}
	first := true
	for _, l := range n.Links {
		clickable := isAbsolute(l.URL)
		p.Links = append(p.Links, pageLink{Label: linkLabel(l), URL: l.URL, First: first && clickable, Clickable: clickable})
		first = first && !clickable
	}
	return p
}

func isAbsolute(address string) bool {
	u, err := url.Parse(address)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host != ""
}

// toHTML returns a text as HTML that is safe to show. Lines of plain text stay lines.
func toHTML(t notify.Text) template.HTML {
	if t.HTML != "" {
		if out := sanitizeHTML(t.HTML); out != "" {
			return template.HTML(out) // #nosec G203 -- sanitized
		}
	}
	return template.HTML(strings.ReplaceAll(template.HTMLEscapeString(strings.TrimSpace(t.Plain)), "\n", "<br>\n")) // #nosec G203 -- escaped
}

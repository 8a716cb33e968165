package news

import (
	"net/url"
	"strings"

	sdk "github.com/patchbay-dev/patchbay/sdk/notify"
)

// base is what paths are put behind: the public base URL, else the path of the pages. absolute tells which.
func (w Writer) base() (prefix string, absolute bool) {
	if u, err := url.Parse(w.BaseURL); err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host != "" {
		u.RawQuery, u.Fragment = "", ""
		return strings.TrimSuffix(u.String(), "/") + "/", true
	}
	return "/" + strings.TrimPrefix(strings.TrimSuffix(w.SitePath, "/")+"/", "/"), false
}

func (w Writer) href(segments ...string) string {
	prefix, _ := w.base()
	for i, s := range segments {
		segments[i] = url.PathEscape(strings.ToValidUTF8(s, "\ufffd"))
	}
	return prefix + strings.Join(segments, "/")
}

func (w Writer) jobURL(id string) string { return w.href("queue", id) }

func (w Writer) settingsURL() string { return w.href("settings") }

// serviceURL is the page of a service. A service that lacks an id has none.
func (w Writer) serviceURL(s Service) string {
	if s.StackID == "" || s.ServiceID == "" {
		return ""
	}
	return w.href("services", s.StackID, s.ServiceID)
}

// links are those of all that lead somewhere, each address once. Without a public base URL there are none.
func (w Writer) links(all ...sdk.Link) (out []sdk.Link) {
	if _, absolute := w.base(); !absolute {
		return nil
	}
	seen := map[string]bool{"": true}
	for _, l := range all {
		if !seen[l.URL] {
			seen[l.URL] = true
			out = append(out, l)
		}
	}
	return out
}

// linked is a line that leads to an address: a link, or the text and the path as code.
func (w Writer) linked(text, address string) line {
	_, absolute := w.base()
	between := w.word("between")
	switch {
	case address == "":
		return words(text)
	case absolute:
		return line{{style: link, text: text, url: address, between: between}}
	}
	return line{{text: text + between}, {style: code, text: address}}
}

// hint is a paragraph that says why paths are no links, where they are not.
func (w Writer) hint() document {
	if _, absolute := w.base(); absolute {
		return nil
	}
	return document{{head: words(w.word("hint"))}}
}

// places adds to a text where there is more, unless Message.Links tells it: that is so with a public base URL.
func (w Writer) places(d document, blocks ...block) document {
	if _, absolute := w.base(); absolute {
		return d
	}
	return append(d, blocks...)
}

package news

import (
	"net/url"
	"strings"

	sdk "github.com/patchbay-dev/patchbay/sdk/notify"
)

// linkBase returns what paths are put behind: the public base URL, else the path of the pages. absolute reports which.
func (w Writer) linkBase() (prefix string, absolute bool) {
	if u, err := url.Parse(w.BaseURL); err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host != "" {
		u.RawQuery, u.Fragment = "", ""
		return strings.TrimSuffix(u.String(), "/") + "/", true
	}
	return "/" + strings.TrimPrefix(strings.TrimSuffix(w.SitePath, "/")+"/", "/"), false
}

func (w Writer) pageURL(segments ...string) string {
	prefix, _ := w.linkBase()
	for i, s := range segments {
		segments[i] = url.PathEscape(strings.ToValidUTF8(s, "\ufffd"))
	}
	return prefix + strings.Join(segments, "/")
}

// serviceURL returns the page of a service. A service that lacks an id has none.
func (w Writer) serviceURL(s Service) string {
	if s.StackID == "" || s.ServiceID == "" {
		return ""
	}
	return w.pageURL("services", s.StackID, s.ServiceID)
}

// absoluteLinks returns those of all that lead somewhere, each address once. Without a public base URL there are none.
func (w Writer) absoluteLinks(all ...sdk.Link) (out []sdk.Link) {
	if _, absolute := w.linkBase(); !absolute {
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

// linkedLine returns a line that leads to an address: a link, or the text and the path as code.
func (w Writer) linkedLine(text, address string) line {
	_, absolute := w.linkBase()
	between := w.fillText("between")
	switch {
	case address == "":
		return plainLine(text)
	case absolute:
		return line{{style: link, text: text, url: address, between: between}}
	}
	return line{{text: text + between}, {style: code, text: address}}
}

// pathHint returns a paragraph that says why paths are no links, where they are not.
func (w Writer) pathHint() document {
	if _, absolute := w.linkBase(); absolute {
		return nil
	}
	return document{{head: plainLine(w.fillText("hint"))}}
}

// addLinks adds blocks that say where there is more. With a public base URL the links of the message say it.
func (w Writer) addLinks(d document, blocks ...block) document {
	if _, absolute := w.linkBase(); absolute {
		return d
	}
	return append(d, blocks...)
}

package markdown

import (
	"bytes"
	"cmp"
	"net/url"
	"regexp"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// rewriteLinks returns HTML with links in the place of images, whose text is that of the image or else its address. Within a link the
// text stands alone. Addresses that are relative are those of base, unless it is nil. What it returns is not safe: the policy is applied
// after it.
func rewriteLinks(source []byte, base *url.URL) []byte {
	lower := bytes.ToLower(source)
	if !bytes.Contains(lower, []byte("<img")) && (base == nil || !bytes.Contains(lower, []byte("<a"))) {
		return source
	}
	var b bytes.Buffer
	inLink := false
	for t := html.NewTokenizer(bytes.NewReader(source)); ; {
		switch t.Next() {
		case html.ErrorToken:
			return b.Bytes()
		case html.StartTagToken, html.SelfClosingTagToken, html.EndTagToken:
			raw := bytes.Clone(t.Raw())
			switch token := t.Token(); token.DataAtom {
			case atom.Img:
				writeImageLink(&b, token, inLink, base)
				continue
			case atom.A:
				inLink = token.Type == html.StartTagToken
				if inLink && base != nil {
					raw = resolveLink(token, base)
				}
			}
			b.Write(raw)
		default:
			b.Write(t.Raw())
		}
	}
}

// resolveLink returns a link whose address, if it is relative, is that of base.
func resolveLink(link html.Token, base *url.URL) []byte {
	for i, a := range link.Attr {
		if a.Key == "href" {
			link.Attr[i].Val = resolveAddress(a.Val, base)
		}
	}
	return []byte(link.String())
}

// resolveAddress returns an address as it is meant on the page base. Footnotes, and what cannot be read, stay as they are.
func resolveAddress(address string, base *url.URL) string {
	if base == nil || footnoteAddress.MatchString(address) {
		return address
	}
	resolved, err := base.Parse(address)
	if err != nil {
		return address
	}
	return resolved.String()
}

// footnoteAddress is the address of a footnote, or of where it is referred to.
var footnoteAddress = regexp.MustCompile(`^#n[0-9a-f]{8}-fn`)

// writeImageLink writes a link to an image, or its text alone.
func writeImageLink(b *bytes.Buffer, image html.Token, textAlone bool, base *url.URL) {
	var address, alt string
	for _, a := range image.Attr {
		switch a.Key {
		case "src":
			address = a.Val
		case "alt":
			alt = a.Val
		}
	}
	label := html.EscapeString(cmp.Or(alt, address))
	if textAlone || address == "" {
		b.WriteString(label)
		return
	}
	b.WriteString(`<a href="` + html.EscapeString(resolveAddress(address, base)) + `">` + label + `</a>`)
}

package markdown

import (
	"bytes"
	"cmp"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// linkImages returns HTML with links in the place of images, whose text is that of the image or else its address. Within a link the text
// stands alone. What it returns is not safe: the policy is applied after it.
func linkImages(source []byte) []byte {
	if !bytes.Contains(bytes.ToLower(source), []byte("<img")) {
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
				writeImageLink(&b, token, inLink)
				continue
			case atom.A:
				inLink = token.Type == html.StartTagToken
			}
			b.Write(raw)
		default:
			b.Write(t.Raw())
		}
	}
}

// writeImageLink writes a link to an image, or its text alone.
func writeImageLink(b *bytes.Buffer, image html.Token, textAlone bool) {
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
	b.WriteString(`<a href="` + html.EscapeString(address) + `">` + label + `</a>`)
}

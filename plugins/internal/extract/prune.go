package extract

import (
	"regexp"
	"slices"
	"strings"
	"sync"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

var (
	// decoration are classes of what surrounds the content of a page. A name may go on, such as toc-desktop or the hash of a
	// style module.
	decoration = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^(?:theme-doc-)?(?:toc|tocbox|table-?of-?contents|breadcrumbs?|sidebar|side-bar|pagination|pagination-nav|pager|prev-next|next-prev|` +
			`skip-?link|skip-to-content|skip-to-main|cookie-?(?:banner|bar|consent|notice)|consent-banner|gdpr|share-?(?:bar|buttons|links|tools)|social-?(?:share|links|bar)|` +
			`related-?(?:posts|articles|stories|products|content)|recommended-?(?:posts|articles|products)|newsletter(?:-signup)?|advert(?:isement)?s?|ad-slot|` +
			`hideme|edit-this-page|edit-page-link|page-edit|site-(?:nav|header|footer)|navigation|nav-?header|nav-?footer|nav-wrapper|nav-chapters|navbar|nav-?bar|nav-?menu|mega-?menu|dropdown-menu|paywall)(?:$|_|--)`)
	})
	// callout are classes of boxes within the text that an aside is used for.
	callout = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?:^|[-_])(?:admonition|callout|note|tip|warning|caution|danger|important|alert|info|hint|aside--\w+)(?:$|[-_])`)
	})
	// tabPart are names of what is shown once a tab, a title or a language is chosen.
	tabPart = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?:^|[-_ ])(?:tab|tabs|tabpanel|tabbed|tabitem|pane|panel|accordion|collapse|collapsible|code|lang|language|variant|details|spoiler)(?:$|[-_ ])`)
	})
	// selfLink are texts of links by which a heading leads to itself.
	selfLink = []string{"", "#", "¶", "§", "🔗", "\u200b", "link", "permalink", "anchor", "copy link", "direct link"}
)

// pruneBody removes from the body of a page what is not its text: navigation, forms, banners, boxes beside the text, what is
// hidden and not shown by choosing a tab. What a tab shows is no longer hidden afterwards.
func pruneBody(body *html.Node) { pruneBelow(body, false) }

// pruneBelow prunes below an element. inContent reports whether that lies in a main or an article.
func pruneBelow(n *html.Node, inContent bool) {
	for c := n.FirstChild; c != nil; {
		next := c.NextSibling
		switch {
		case c.Type == html.CommentNode:
			n.RemoveChild(c)
		case c.Type != html.ElementNode:
		case isDecoration(c, inContent) || isHidden(c):
			n.RemoveChild(c)
		default:
			cleanAddress(c)
			unlinkHeading(c)
			pruneBelow(c, inContent || isMain(c) || isArticle(c))
			if c.DataAtom == atom.Header && !inContent {
				dropMenus(c)
			}
		}
		c = next
	}
}

// isDecoration reports whether an element is no part of the text.
func isDecoration(n *html.Node, inContent bool) bool {
	switch n.DataAtom {
	case atom.Script, atom.Style, atom.Noscript, atom.Template, atom.Iframe, atom.Svg, atom.Canvas, atom.Nav, atom.Dialog, atom.Button,
		atom.Select,
		atom.Input, atom.Textarea, atom.Object, atom.Embed:
		return true
	case atom.Main, atom.Article, atom.Body, atom.Section, atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6, atom.Pre, atom.Code:
		return false
	case atom.Footer:
		return n.Parent == nil || n.Parent.DataAtom != atom.Blockquote
	case atom.Aside:
		return !inContent || !isCallout(n)
	case atom.A:
		return isSelfLink(n)
	}
	switch findAttribute(n, "role") {
	case "navigation", "contentinfo", "search", "dialog", "alertdialog", "menu", "menubar", "toolbar":
		return true
	case "complementary":
		return !inContent || !isCallout(n)
	}
	return slices.ContainsFunc(listClasses(n), decoration().MatchString)
}

func isCallout(n *html.Node) bool {
	return findAttribute(n, "role") == "note" || slices.ContainsFunc(listClasses(n), callout().MatchString)
}

// isSelfLink reports whether a link leads to its own heading and shows nothing else.
func isSelfLink(n *html.Node) bool {
	href := findAttribute(n, "href")
	return strings.Contains(href, "#") && slices.Contains(selfLink, strings.ToLower(squeezeSpaces(readText(n)))) && findNode(n, atom.Img) == nil
}

// isHidden reports whether an element is never shown. One that a tab shows loses the marks that hide it.
func isHidden(n *html.Node) bool {
	style := strings.ReplaceAll(findAttribute(n, "style"), " ", "")
	if (!hasAttr(n, "hidden") || findAttribute(n, "hidden") == "until-found") && findAttribute(n, "aria-hidden") != "true" &&
		!strings.Contains(style, "display:none") && !strings.Contains(style, "visibility:hidden") {
		return false
	}
	if findAttribute(n, "role") != "tabpanel" && !tabPart().MatchString(findAttribute(n, "class")+" "+findAttribute(n, "id")) && !hasTabData(n) &&
		findNode(n, atom.Pre) == nil {
		return true
	}
	n.Attr = slices.DeleteFunc(n.Attr, func(a html.Attribute) bool {
		return a.Key == "hidden" || a.Key == "aria-hidden" || a.Key == "style"
	})
	return false
}

// hasTabData reports whether an attribute ties an element to a tab or a language.
func hasTabData(n *html.Node) bool {
	return slices.ContainsFunc(n.Attr, func(a html.Attribute) bool {
		return strings.HasPrefix(a.Key, "data-") && tabPart().MatchString(strings.TrimPrefix(a.Key, "data-"))
	})
}

// unlinkHeading makes text of the links by which a heading leads to itself.
func unlinkHeading(n *html.Node) {
	switch n.DataAtom {
	case atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6:
	default:
		return
	}
	for c := range n.Descendants() {
		if c.DataAtom == atom.A && strings.HasPrefix(findAttribute(c, "href"), "#") && !isSelfLink(c) {
			c.Attr = slices.DeleteFunc(c.Attr, func(a html.Attribute) bool { return a.Key == "href" })
		}
	}
}

// dropMenus removes from the header of a page the lists that consist of links.
func dropMenus(header *html.Node) {
	for _, list := range findTopmost(header, func(n *html.Node) bool { return n.DataAtom == atom.Ul || n.DataAtom == atom.Ol }) {
		links := 0
		for _, a := range findTopmost(list, func(n *html.Node) bool { return n.DataAtom == atom.A }) {
			links += len(readText(a))
		}
		if links*5 >= len(readText(list))*4 {
			list.Parent.RemoveChild(list)
		}
	}
}

// lateSources are attributes with the address of an image that a script shows.
var lateSources = []string{"data-src", "data-lazy-src", "data-original"}

// cleanAddress puts the address of an image that is loaded late where all others have theirs. An image whose address holds
// its bytes becomes its own words, and such a link its text.
func cleanAddress(n *html.Node) {
	key := map[atom.Atom]string{atom.Img: "src", atom.A: "href"}[n.DataAtom]
	if key == "" || findAttribute(n, key) != "" && !strings.HasPrefix(findAttribute(n, key), "data:") {
		return
	}
	held := n.Attr
	n.Attr = slices.DeleteFunc(slices.Clone(held), func(a html.Attribute) bool { return a.Key == key })
	if key == "href" {
		return
	}
	words := ""
	for _, a := range held {
		switch {
		case slices.Contains(lateSources, a.Key) && !strings.HasPrefix(a.Val, "data:"):
			n.Attr = append(n.Attr, html.Attribute{Key: key, Val: a.Val})
			return
		case a.Key == "alt":
			words = a.Val
		}
	}
	*n = html.Node{Type: html.TextNode, Data: words, Parent: n.Parent, PrevSibling: n.PrevSibling, NextSibling: n.NextSibling}
}

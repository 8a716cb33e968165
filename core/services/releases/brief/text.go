package brief

import (
	"cmp"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/patchbay-dev/patchbay/core/services/releases/feed"
	"github.com/patchbay-dev/patchbay/core/store"
	"github.com/patchbay-dev/patchbay/core/texts"
)

const (
	// visibleStars and visibleFollowers are how many names a line has.
	visibleStars, visibleFollowers = 4, 6
	// maxLinks is how many links into the repository a release has.
	maxLinks = 3
	// MaxReleases is how many releases a brief lists.
	MaxReleases = 300
)

// content is what a brief tells.
type content struct {
	// language is that of the reader, such as zh-CN.
	language string
	releases []feed.Item
	// more is how many releases there were besides.
	more   int
	stars  []feed.Item
	others []feed.Item
	zone   *time.Location
	// summaries are those of releases that there are, as Markdown lists, by their ids.
	summaries map[int64]string
}

// write returns the brief as Markdown. The same content gives the same text.
func (c content) write() string {
	var b strings.Builder
	b.WriteString("## " + c.fillText("projects") + "\n")
	if len(c.releases) == 0 {
		b.WriteString("\n- " + c.fillText("no_releases") + "\n")
	}
	for _, group := range groupByRepo(c.releases) {
		name := group[0].RepoFullName
		fmt.Fprintf(&b, "\n### [%s](%s)\n\n", escapeMarkdown(name), repoURL(group[0]))
		for i := range group {
			c.writeRelease(&b, &group[i], summaryPoints(c.summaries[group[i].Seq]))
		}
	}
	if c.more > 0 {
		b.WriteString("\n- " + c.fillText("more", "Number", c.more) + "\n")
	}
	if len(c.stars)+len(c.others) > 0 {
		b.WriteString("\n## " + c.fillText("social") + "\n")
	}
	if len(c.stars) > 0 {
		b.WriteString("\n### " + c.fillText("stars") + "\n\n")
		for _, group := range groupByRepo(c.stars) {
			fmt.Fprintf(&b, "- [%s](%s)%s%s\n", escapeMarkdown(group[0].RepoFullName), "/focus/repo/"+group[0].RepoFullName,
				c.fillText("colon"), c.joinNames(group, visibleStars))
		}
	}
	if len(c.others) > 0 {
		b.WriteString("\n### " + c.fillText("followers") + "\n\n- " + c.joinNames(c.others, visibleFollowers) + "\n")
	}
	return b.String()
}

// groupByRepo groups items by their repositories: that with the newest item first, ties by name.
func groupByRepo(items []feed.Item) (groups [][]feed.Item) {
	at := map[string]int{}
	for _, i := range items {
		n, ok := at[i.RepoFullName]
		if !ok {
			n = len(groups)
			at[i.RepoFullName], groups = n, append(groups, nil)
		}
		groups[n] = append(groups[n], i)
	}
	slices.SortStableFunc(groups, func(a, b []feed.Item) int {
		return cmp.Or(cmp.Compare(b[0].TS, a[0].TS), strings.Compare(strings.ToLower(a[0].RepoFullName), strings.ToLower(b[0].RepoFullName)))
	})
	return groups
}

// repoURL returns the page of the repository of a release at its host.
func repoURL(i feed.Item) string {
	if u, err := url.Parse(i.HTMLURL); err == nil && u.Host != "" {
		return (&url.URL{Scheme: u.Scheme, Host: u.Host, Path: "/" + i.RepoFullName}).String()
	}
	return "https://github.com/" + i.RepoFullName
}

// ReleasePath returns the address of the page of a release below that of the service.
func ReleasePath(repoFullName, tag string) string {
	return "/" + repoFullName + "/releases/tag/" + url.PathEscape(tag)
}

// writeRelease writes a release with the points of its summary, or else whether it has notes.
func (c content) writeRelease(b *strings.Builder, i *feed.Item, points []string) {
	fmt.Fprintf(b, "- [%s](%s?from=briefs) · %s", escapeMarkdown(i.Title), ReleasePath(i.RepoFullName, i.Tag),
		store.FromMillis(i.TS).In(c.zone).Format("2006-01-02 15:04"))
	if i.Prerelease {
		b.WriteString(" · " + c.fillText("prerelease"))
	}
	if i.HTMLURL != "" {
		fmt.Fprintf(b, " · [GitHub Release](%s)", escapeURL(i.HTMLURL))
	}
	b.WriteString("\n")
	for _, point := range points {
		b.WriteString("  - " + point + "\n")
	}
	if i.Body == "" {
		if len(points) == 0 {
			b.WriteString("  - " + c.fillText("no_notes") + "\n")
		}
		return
	}
	if len(points) == 0 {
		b.WriteString("  - " + c.fillText("has_notes") + "\n")
	}
	if links := listLinks(i); len(links) > 0 {
		b.WriteString("  - " + c.fillText("links") + strings.Join(links, " · ") + "\n")
	}
}

const (
	// maxPoints is how many points of a summary a brief has, maxPoint how many characters of each.
	maxPoints, maxPoint = 4, 300
)

// The parts of a summary that could lead elsewhere: links and images, of which the words stay, addresses, and HTML.
var (
	summaryLinks = regexp.MustCompile(`!?\[([^\]]*)\]\([^)]*\)`)
	summaryMarks = regexp.MustCompile(`<[^>]*>|[a-z][a-z0-9+.-]*://\S+`)
)

// summaryPoints returns the points of a summary, a Markdown list, each in one line and without links.
func summaryPoints(list string) (points []string) {
	for line := range strings.Lines(list) {
		line = strings.TrimSpace(line)
		text, ok := strings.CutPrefix(line, "- ")
		if !ok {
			if text, ok = strings.CutPrefix(line, "* "); !ok {
				continue
			}
		}
		text = strings.TrimLeft(summaryMarks.ReplaceAllString(summaryLinks.ReplaceAllString(text, "$1"), ""), "#> ")
		if text = texts.Truncate(strings.TrimSpace(text), maxPoint); text != "" {
			points = append(points, text)
		}
		if len(points) == maxPoints {
			break
		}
	}
	return points
}

// reference finds the pages of issues, pull requests and commits.
var reference = regexp.MustCompile(`https?://[^\s()<>\[\]"']+/(issues|pull|pulls|commit)/([0-9a-f]{1,40})\b`)

// listLinks returns the first links of a text into its own repository.
func listLinks(i *feed.Item) (links []string) {
	own := strings.ToLower(repoURL(*i)) + "/"
	seen := map[string]bool{}
	for _, m := range reference.FindAllStringSubmatch(i.Body, -1) {
		if len(links) == maxLinks {
			break
		}
		if seen[m[0]] || !strings.HasPrefix(strings.ToLower(m[0]), own) {
			continue
		}
		seen[m[0]] = true
		label := "#" + m[2]
		if m[1] == "commit" {
			label = m[2][:min(7, len(m[2]))]
		}
		links = append(links, "["+label+"]("+m[0]+")")
	}
	return links
}

// joinNames returns the names of who caused items, the first visible of them as links.
func (c content) joinNames(items []feed.Item, visible int) string {
	var names []string
	for i := range items {
		if i == visible {
			break
		}
		names = append(names, "[@"+escapeMarkdown(items[i].ActorLogin)+"]("+escapeURL(items[i].HTMLURL)+")")
	}
	text := strings.Join(names, c.fillText("comma"))
	if len(items) > visible {
		text += c.fillText("others", "Number", len(items))
	}
	return text
}

// markdownEscapes are the marks of Markdown with what shows them.
var markdownEscapes = strings.NewReplacer(`\`, `\\`, "[", `\[`, "]", `\]`, "*", `\*`, "_", `\_`, "`", "\\`", "<", `\<`, ">", `\>`, "&",
	`\&`, "#", `\#`, "|", `\|`, "~", `\~`, "!", `\!`, "\n", " ")

// escapeMarkdown returns a text that Markdown shows as it is.
func escapeMarkdown(s string) string { return markdownEscapes.Replace(s) }

// escapeURL returns an address as the target of a link in Markdown.
func escapeURL(s string) string {
	return strings.NewReplacer(" ", "%20", "(", "%28", ")", "%29", "<", "%3C", ">", "%3E", "\n", "").Replace(s)
}

package news

import (
	"encoding/json"
	"html"
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/patchbay-dev/patchbay/core/notify/card"
	sdk "github.com/patchbay-dev/patchbay/sdk/notify"
)

// hostile are texts that nobody would give a thing, and that things have nevertheless.
func hostile() *rapid.Generator[string] {
	return rapid.OneOf(
		rapid.String(),
		rapid.SampledFrom([]string{
			"", " ", "<script>alert(1)</script>", "</pre><b>", `"><img src=x onerror=y>`, "[a](javascript:b)", "1. x", "- x", "# x", "```", "`",
			"a\\",
			strings.Repeat("订", 500), strings.Repeat("👩\u200d👩\u200d👧\u200d👦", 60), "שלום\u202eabc\u202c", "\xff\xfe\x80abc",
			"a\x00b\x1b[31mc\r\nd", "{n}{service}{reason}",
			"https://evil.example/x", "hthttps://tps://x", "sha256:" + strings.Repeat("ab", 32), "img@sha256:12", "HTTP://X",
			strings.Repeat("<&\"'>", 100),
			"\u2028\u2029\u0085", "🇨🇳👍🏽\ufe0f⃣", "正常名称", "web",
		}),
		rapid.Map(rapid.SliceOfN(rapid.Byte(), 0, 300), func(b []byte) string { return string(b) }),
	)
}

func ids() *rapid.Generator[string] { return rapid.StringMatching(`[a-z]{3}_[0-9A-Z]{1,26}`) }

func hostileService(t *rapid.T) Service {
	return Service{ids().Draw(t, "stack"), hostile().Draw(t, "stack name"), ids().Draw(t, "service"), hostile().Draw(t, "service name")}
}

func hostileEvent(t *rapid.T) any {
	s := func(name string) string { return hostile().Draw(t, name) }
	n := func(name string) int { return rapid.IntRange(0, 30).Draw(t, name) }
	change := func(service Service) VersionChange {
		return VersionChange{service, s("tag"), s("candidate"), s("display"), s("candidate's display")}
	}
	list := func(name string) (out []VersionChange) {
		for _, service := range rapid.SliceOfN(rapid.Custom(hostileService), 0, 14).Draw(t, name) {
			out = append(out, change(service))
		}
		return out
	}
	switch rapid.IntRange(0, 3).Draw(t, "kind") {
	case 0:
		status := rapid.SampledFrom([]string{"success", "failed", "rolled_back", "canceled", "odd"}).Draw(t, "status")
		scope := rapid.SampledFrom([]string{"all", "stack", "service", "odd"}).Draw(t, "scope")
		return job(status, func(e *JobEvent) {
			e.Scope, e.StackID, e.ServiceID = scope, ids().Draw(t, "stack"), ids().Draw(t, "service")
			e.Type, e.Reason, e.CreatedBy = s("type"), s("reason"), s("by")
			e.Canceled = rapid.Bool().Draw(t, "canceled")
			e.Changed, e.Failed, e.Affected = list("changed"), list("failed"), list("affected")
			e.Failure, e.Excerpt = s("failure"), s("excerpt")
			e.FinishedAt = e.StartedAt.Add(time.Duration(n("seconds")*n("times")) * time.Second)
		})
	case 1:
		return NewVersionsEvent{ids().Draw(t, "job"), s("status"), s("scope"), n("checked"), append(list("services"), change(hostileService(t)))}
	case 2:
		e := AnomalyEvent{ids().Draw(t, "job"), s("status"), n("missing") + 1, n("conflict"), n("error"), nil}
		for range rapid.IntRange(0, 14).Draw(t, "repos") {
			e.Repos = append(e.Repos, AnomalyRepo{s("repo"), s("state"), s("error")})
		}
		return e
	}
	return TestEvent{s("channel"), s("message")}
}

func TestHostileEvents(t *testing.T) {
	v := compiled(t)
	rapid.Check(t, func(t *rapid.T) {
		e := hostileEvent(t)
		locale := rapid.SampledFrom([]string{"zh", "en", "xx"}).Draw(t, "locale")
		base := rapid.SampledFrom([]string{"", publicURL}).Draw(t, "base")
		m, err := write(writer(locale, base), e)
		if err != nil {
			t.Fatal(err)
		}
		for name, text := range map[string]sdk.Text{"title": m.Title, "summary": m.Summary, "detail": m.Detail} {
			checkText(t, name, text)
		}
		if strings.Contains(m.Title.Plain, "\n") || m.Title.Plain == "" {
			t.Errorf("title %q", m.Title.Plain)
		}
		checkCard(t, m.Card)
		channel := rapid.SampledFrom([]string{"chat", "webPush"}).Draw(t, "channel")
		raw, err := ForChannel(m.Payload, channel, false)
		if err != nil {
			t.Fatal(err)
		}
		if err := v.check(raw); err != nil {
			t.Fatal(err)
		}
		limit := rapid.Int64Range(2000, 8000).Draw(t, "limit")
		short, err := Shorten(raw, limit)
		if err != nil {
			t.Fatal(err)
		}
		if err := v.check(short); err != nil || int64(len(short)) > limit {
			t.Fatalf("%d bytes, %v: %s", len(short), err, short)
		}
		checkCounts(t, raw, short)
	})
}

var tags = regexp.MustCompile(`</?(?:p|ul|li|code|pre|b|br)>|<a href="https://ops\.example\.com/[^"<>]*">|</a>`)

func checkText(t *rapid.T, name string, text sdk.Text) {
	for form, s := range map[string]string{"plain": text.Plain, "markdown": text.Markdown, "html": text.HTML} {
		if !utf8.ValidString(s) {
			t.Errorf("%s, %s: not UTF-8: %q", name, form, s)
		}
		if i := strings.IndexFunc(s, func(r rune) bool { return r != '\n' && unicode.IsControl(r) }); i >= 0 {
			t.Errorf("%s, %s holds a control character: %q", name, form, s)
		}
	}
	rest := tags.ReplaceAllString(text.HTML, "")
	if strings.ContainsAny(rest, "<>\"'") {
		t.Errorf("%s holds HTML that is not ours: %s", name, text.HTML)
	}
	squeeze := func(s string) string { return strings.Join(strings.Fields(s), "") }
	if name == "title" && squeeze(html.UnescapeString(rest)) != squeeze(text.Plain) {
		t.Errorf("%s reads %q as HTML and %q as text", name, rest, text.Plain)
	}
}

// checkCard looks for what does not belong into a picture.
func checkCard(t *rapid.T, c *card.Card) {
	raw, err := json.Marshal(c)
	if err != nil {
		t.Fatal(err)
	}
	for _, never := range []string{"http:", "https:", "://", "sha256:"} {
		if strings.Contains(strings.ToLower(string(raw)), never) {
			t.Errorf("the card holds %q: %s", never, raw)
		}
	}
	if len(c.Lines) > card.MaxLines || c.Subject == "" || c.Kind == "" {
		t.Errorf("card %+v", c)
	}
}

// checkCounts sees to it that what was left out is counted, and that not too much is listed.
func checkCounts(t *rapid.T, long, short []byte) {
	count := func(raw []byte) (listed, all int) {
		p, err := decodePayload(raw)
		if err != nil {
			t.Fatal(err)
		}
		if p.Links == nil {
			return 0, 0
		}
		listed = len(p.Links.ServiceURLs) + len(p.Links.Repos)
		all = listed
		for _, n := range []*int{p.Links.Truncated.ServiceURLsOmitted, p.Links.Truncated.ReposOmitted} {
			if n != nil {
				all += *n
			}
		}
		return listed, all
	}
	listed, before := count(long)
	_, after := count(short)
	if listed > MaxEntries || before != after {
		t.Errorf("%d entries, %d in all, %d after it was shortened", listed, before, after)
	}
}

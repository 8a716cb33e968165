package telegram_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/patchbay-dev/patchbay/plugins/notify/telegram/telegramtest"
	"github.com/patchbay-dev/patchbay/sdk/notify"
)

func TestLongCaptions(t *testing.T) {
	link := []notify.Link{{Label: "Service", URL: "https://example.com/" + strings.Repeat("x", 1500)}}
	for _, tt := range []struct {
		name           string
		title, summary string
		links          []notify.Link
		atMost         int
		ends           string
		warn           bool
	}{
		{"just fits", strings.Repeat("t", 200), strings.Repeat("字", 1024-200-2-9), link, 1024, "Service", false},
		{"one too many", strings.Repeat("t", 200), strings.Repeat("字", 1024-200-2-8), link, 900, "…\n\nService", true},
		{"emoji", "🚀", strings.Repeat("🚀", 600), link, 900, "🚀…\n\nService", true},
		{"title alone", strings.Repeat("长", 2000), "", nil, 160, "长…", true},
		{"long label", "t", strings.Repeat("s", 1200), []notify.Link{{Label: strings.Repeat("L", 950), URL: "https://example.com"}}, 900, "s…",
			true},
		{"markup does not count", "t", strings.Repeat("&<", 400), link, 1024, "Service", false},
	} {
		s := telegramtest.New(t)
		n := finished(t)
		n.Title, n.Summary, n.Links = notify.Text{Plain: tt.title}, notify.Text{Plain: tt.summary}, tt.links
		receipt, err := client(t, config(s, "")).Send(t.Context(), n, target(s))
		if err != nil || (len(receipt.Warnings) > 0) != tt.warn {
			t.Errorf("%s: %+v, %v", tt.name, receipt, err)
			continue
		}
		got := s.Messages()[0]
		if got.Method != "sendPhoto" || telegramtest.Units(got.Text) > tt.atMost || !strings.HasSuffix(got.Text, tt.ends) ||
			!utf8.ValidString(got.Text) || strings.Contains(got.Text, "\ufffd") {
			t.Errorf("%s: %s of %d units: …%s", tt.name, got.Method, telegramtest.Units(got.Text), got.Text[max(0, len(got.Text)-40):])
		}
	}
}

// A link that the caption has no room for stands below the detail.
func TestDroppedLinkIsNotLost(t *testing.T) {
	s := telegramtest.New(t)
	n := finished(t)
	n.Summary = notify.Text{Plain: strings.Repeat("s", 1200)}
	n.Links[0].Label = strings.Repeat("L", 950)
	if _, err := client(t, config(s, "")).Send(t.Context(), n, target(s)); err != nil {
		t.Fatal(err)
	}
	got := s.Messages()
	if strings.Contains(got[0].Text, "LLL") || !strings.Contains(got[1].Text, "LLL") {
		t.Errorf("%+v", got)
	}
}

func TestLongTexts(t *testing.T) {
	for _, tt := range []struct {
		name   string
		detail notify.Text
		mode   string
		ends   string
		units  int
	}{
		{"just fits", notify.Text{Plain: strings.Repeat("字", 4096)}, "HTML", "字", 4096},
		{"one too many", notify.Text{Plain: strings.Repeat("字", 4097)}, "", "字… [truncated]", 4096 - 32},
		{"pairs", notify.Text{Plain: "x" + strings.Repeat("🚀", 3000)}, "", "🚀… [truncated]", 4096 - 32},
		{"only the HTML is long", notify.Text{Plain: "short", HTML: "<p>" + strings.Repeat("word ", 1000) + "</p>"}, "", "short", 5},
		{"much markup", notify.Text{Plain: strings.Repeat("<&>", 1300)}, "HTML", "<&>", 3900},
	} {
		s := telegramtest.New(t)
		n := finished(t)
		n.Detail, n.Links = tt.detail, nil
		receipt, err := client(t, config(s, "")).Send(t.Context(), n, target(s))
		if err != nil || (len(receipt.Warnings) > 0) != (tt.mode == "") {
			t.Fatalf("%s: %+v, %v", tt.name, receipt, err)
		}
		got := s.Messages()[1]
		if got.ParseMode != tt.mode || !strings.HasSuffix(got.Text, tt.ends) || telegramtest.Units(got.Text) > tt.units ||
			telegramtest.Units(got.Text) < tt.units-1 {
			t.Errorf("%s: mode %q, %d units, …%s", tt.name, got.ParseMode, telegramtest.Units(got.Text), got.Text[max(0, len(got.Text)-40):])
		}
	}
}

func TestMarkupIsNotUnderstood(t *testing.T) {
	s := telegramtest.New(t)
	s.Fail("sendMessage", telegramtest.Failure{Status: 400, Description: "Bad Request: can't parse entities: Unsupported start tag", Times: 1})
	n := finished(t)
	n.Image = nil
	receipt, err := client(t, config(s, "")).Send(t.Context(), n, target(s))
	if err != nil || len(receipt.Warnings) != 1 {
		t.Fatalf("%+v, %v", receipt, err)
	}
	got := s.Messages()
	want := "更新完成 <web> & 🚀\n\nshop / web: 1.2 -> 1.3\n\nlog\nlines\n\nService: https://example.com/s?a=1&b=2\nJob: https://example.com/queue/1"
	if len(got) != 1 || got[0].ParseMode != "" || got[0].Text != want {
		t.Errorf("%+v", got)
	}
}

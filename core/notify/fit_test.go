package notify

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/patchbay-dev/patchbay/core/notify/card"
	sdk "github.com/patchbay-dev/patchbay/sdk/notify"
)

func rendered(plain string) sdk.Text {
	return sdk.Text{Plain: plain, Markdown: "**" + plain + "**", HTML: "<b>" + plain + "</b>"}
}

func TestFitLeavesWhatAChannelCanDo(t *testing.T) {
	c := &card.Card{Kind: "k", Status: "s", Subject: "subject"}
	for name, tt := range map[string]struct {
		about                  sdk.Descriptor
		card                   *card.Card
		image, markdown, html  bool
		title, summary, detail string
		payload                bool
		warnings               int
	}{
		"nothing": {card: c, title: "title", summary: "summary", detail: "detail", payload: true},
		"image": {about: sdk.Descriptor{Capabilities: []string{sdk.CapImage}}, card: c, image: true, title: "title",
			summary: "summary", detail: "detail", payload: true},
		"image without a card": {about: sdk.Descriptor{Capabilities: []string{sdk.CapImage}}, title: "title", summary: "summary",
			detail: "detail", payload: true},
		"markdown": {about: sdk.Descriptor{Capabilities: []string{sdk.CapMarkdown}}, markdown: true, title: "title",
			summary: "summary", detail: "detail", payload: true},
		"html": {about: sdk.Descriptor{Capabilities: []string{sdk.CapHTML}}, html: true, title: "title", summary: "summary",
			detail: "detail", payload: true},
		"just enough room": {about: sdk.Descriptor{MaxTextBytes: 18}, title: "title", summary: "summary", detail: "detail", payload: true},
		"one byte less": {about: sdk.Descriptor{MaxTextBytes: 17}, title: "title", summary: "summary", detail: "de…", payload: true,
			warnings: 1},
		"markup is longer": {about: sdk.Descriptor{MaxTextBytes: 20, Capabilities: []string{sdk.CapHTML}}, title: "title",
			summary: "summary", detail: "detail", payload: true, warnings: 1},
		"room for a title":        {about: sdk.Descriptor{MaxTextBytes: 5}, title: "title", payload: true, warnings: 1},
		"room for part of it":     {about: sdk.Descriptor{MaxTextBytes: 4}, title: "t…", payload: true, warnings: 1},
		"room for nothing":        {about: sdk.Descriptor{MaxTextBytes: 1}, title: "…", payload: true, warnings: 1},
		"payload too long to cut": {about: sdk.Descriptor{MaxPayloadBytes: 8}, title: "title", summary: "summary", detail: "detail", warnings: 1},
	} {
		t.Run(name, func(t *testing.T) {
			n := &sdk.Notification{ID: "n", Kind: "k", Title: rendered("title"), Summary: rendered("summary"), Detail: rendered("detail"),
				Payload: []byte(`{"schema":"x","a":1}`)}
			warnings := fitToChannel(n, tt.card, &tt.about, keepWhole)
			for _, text := range []sdk.Text{n.Title, n.Summary, n.Detail} {
				if (text.Markdown != "") != tt.markdown || (text.HTML != "") != tt.html {
					t.Errorf("%+v", text)
				}
			}
			if n.Title.Plain != tt.title || n.Summary.Plain != tt.summary || n.Detail.Plain != tt.detail {
				t.Errorf("%q, %q, %q", n.Title.Plain, n.Summary.Plain, n.Detail.Plain)
			}
			if (len(n.Image) > 0) != tt.image || (len(n.Payload) > 0) != tt.payload || len(warnings) != tt.warnings {
				t.Errorf("image %t, payload %s, %q", len(n.Image) > 0, n.Payload, warnings)
			}
			if err := n.Check(); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestPayloadOfAnAlertIsWholeOrNotThere has a payload of no known schema.
func TestPayloadOfAnAlertIsWholeOrNotThere(t *testing.T) {
	raw, err := json.Marshal(alertPayload(Alert{Service: "search", Kind: "pool_empty", Title: "t", Text: strings.Repeat("t", 400),
		Fields: map[string]any{"backend": "b"}}, statusRaised))
	if err != nil {
		t.Fatal(err)
	}
	n := &sdk.Notification{ID: "n", Kind: "k", Title: sdk.Text{Plain: "t"}, Payload: raw}
	if warnings := fitToChannel(n, nil, &sdk.Descriptor{MaxPayloadBytes: 300}, keepWhole); len(n.Payload) > 0 || len(warnings) != 1 {
		t.Errorf("%s, %q", n.Payload, warnings)
	}
}

func TestFitKeepsToTheLimits(t *testing.T) {
	text := rapid.Custom(func(t *rapid.T) sdk.Text {
		plain := rapid.StringOf(rapid.SampledFrom([]rune("ab 中文🚀é\u200d\n"))).Draw(t, "plain")
		out := sdk.Text{Plain: plain}
		if rapid.Bool().Draw(t, "rich") {
			out = rendered(plain)
		}
		return out
	})
	rapid.Check(t, func(t *rapid.T) {
		about := sdk.Descriptor{MaxTextBytes: rapid.Int64Range(0, 200).Draw(t, "text"),
			MaxPayloadBytes: rapid.Int64Range(0, 2000).Draw(t, "payload")}
		for _, c := range []string{sdk.CapMarkdown, sdk.CapHTML} {
			if rapid.Bool().Draw(t, c) {
				about.Capabilities = append(about.Capabilities, c)
			}
		}
		n := &sdk.Notification{ID: "n", Kind: "k", Title: text.Draw(t, "title"), Summary: text.Draw(t, "summary"), Detail: text.Draw(t, "detail")}
		if n.Title.Plain == "" {
			n.Title.Plain = "t"
		}
		n.Payload, _ = json.Marshal(map[string]string{"detail": n.Detail.Plain})
		fitToChannel(n, nil, &about, func(raw json.RawMessage, max int64) (json.RawMessage, error) {
			if max < 2 {
				return keepWhole(raw, max)
			}
			return json.RawMessage("{}"), nil
		})
		if err := n.Check(); err != nil {
			t.Fatal(err)
		}
		if most := int(about.MaxTextBytes); most >= len(ellipsis) && textBytes(n) > most {
			t.Fatalf("%d bytes, of %d: %+v", textBytes(n), most, n)
		}
		for _, text := range []sdk.Text{n.Title, n.Summary, n.Detail} {
			if !utf8.ValidString(text.Plain) || text.Markdown != "" && !slices.Contains(about.Capabilities, sdk.CapMarkdown) || text.HTML != "" &&
				!slices.Contains(about.Capabilities, sdk.CapHTML) {
				t.Fatalf("%+v", text)
			}
		}
		if most := about.MaxPayloadBytes; most > 0 && int64(len(n.Payload)) > most {
			t.Fatalf("%d bytes of payload, of %d", len(n.Payload), most)
		}
	})
}

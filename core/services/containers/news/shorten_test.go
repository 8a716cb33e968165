package news

import (
	"strings"
	"testing"
)

func TestShorten(t *testing.T) {
	m := must(t, writer("", publicURL), samples()["version-thirteen"])
	raw, err := ForChannel(m.Payload, "webPush", true)
	if err != nil {
		t.Fatal(err)
	}
	t.Run("what fits stays", func(t *testing.T) {
		for _, limit := range []int64{0, -1, int64(len(raw))} {
			if got, err := Shorten(raw, limit); err != nil || string(got) != string(raw) {
				t.Errorf("limit %d: %s, %v", limit, got, err)
			}
		}
	})
	whole, err := decodePayload(raw)
	if err != nil {
		t.Fatal(err)
	}
	t.Run("links first", func(t *testing.T) {
		got, err := Shorten(raw, int64(len(raw))-1)
		if err != nil {
			t.Fatal(err)
		}
		p, err := decodePayload(got)
		if err != nil {
			t.Fatal(err)
		}
		if len(p.Links.ServiceURLs) != 9 || *p.Links.Truncated.ServiceURLsOmitted != 4 || p.Human.Detail != m.Detail.Plain ||
			p.Body != whole.Human.Summary {
			t.Errorf("shortened to %s", got)
		}
	})
	t.Run("then the detail, then the texts", func(t *testing.T) {
		got, err := Shorten(raw, 1700)
		if err != nil {
			t.Fatal(err)
		}
		p, err := decodePayload(got)
		if err != nil {
			t.Fatal(err)
		}
		if len(p.Links.ServiceURLs) != 0 || p.Links.ServiceURLs == nil || p.Body != whole.Human.Summary ||
			!strings.HasSuffix(p.Human.Detail, ellipsis) {
			t.Errorf("shortened to %s", got)
		}
		if got, err = Shorten(raw, 1000); err != nil {
			t.Fatal(err)
		}
		if p, err = decodePayload(got); err != nil || p.Human.Detail != "" || p.Body != p.Human.Summary || !strings.HasSuffix(p.Body, ellipsis) {
			t.Errorf("shortened to %s", got)
		}
	})
	t.Run("never the addresses", func(t *testing.T) {
		if got, err := Shorten(raw, 300); err == nil {
			t.Errorf("shortened to %s, want an error", got)
		}
	})
}

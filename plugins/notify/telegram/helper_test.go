package telegram_test

import (
	"bytes"
	"fmt"
	"image"
	"image/png"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/patchbay-dev/patchbay/plugins/notify/telegram"
	"github.com/patchbay-dev/patchbay/plugins/notify/telegram/telegramtest"
	"github.com/patchbay-dev/patchbay/sdk/notify"
	"github.com/patchbay-dev/patchbay/sdk/plugintest"
	"github.com/patchbay-dev/patchbay/sdk/schema"
)

// config is a config block for a stand-in, with more members.
func config(s *telegramtest.Server, more string) string {
	return fmt.Sprintf(`{"base_url":%q,"allow_hosts":[%q]%s}`, s.URL, s.Host, more)
}

// target is the stand-in's chat and bot.
func target(s *telegramtest.Server) notify.Target {
	return notify.Target{JSON: []byte(fmt.Sprintf(`{"chatId":%q}`, s.ChatID)), Secret: schema.Secret(s.Token)}
}

// client configures an instance and calls it over the wire.
func client(t *testing.T, config string) *notify.Client {
	t.Helper()
	l := plugintest.Load(t, telegram.Plugin())
	return notify.NewClient(l.Conn, l.Configure(t, plugintest.Config(t, notify.Kind, "ops", config)))
}

// logged is client with everything that the plugin logs.
func logged(t *testing.T, config string) (*notify.Client, *bytes.Buffer) {
	t.Helper()
	var out bytes.Buffer
	l := plugintest.LoadWith(t, telegram.Plugin(), hclog.New(&hclog.LoggerOptions{Output: &out, Level: hclog.Trace}))
	return notify.NewClient(l.Conn, l.Configure(t, plugintest.Config(t, notify.Kind, "ops", config))), &out
}

func card(t testing.TB) []byte {
	t.Helper()
	var out bytes.Buffer
	if err := png.Encode(&out, image.NewGray(image.Rect(0, 0, 120, 63))); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// finished is a notification with all parts.
func finished(t testing.TB) *notify.Notification {
	t.Helper()
	return &notify.Notification{
		ID: "n-1", Kind: "job_finished", Version: 2, SentAt: time.Unix(1_700_000_000, 0), Severity: notify.Success,
		Title:   notify.Text{Plain: "更新完成 <web> & 🚀"},
		Summary: notify.Text{Plain: "shop / web: 1.2 -> 1.3", HTML: "shop / <strong>web</strong>: 1.2 -&gt; 1.3"},
		Detail: notify.Text{Plain: "log\nlines",
			HTML: `<p>One &amp; <em>two</em></p><ul><li>a</li><li>b</li></ul><pre>x  &lt; y</pre><script>bad()</script>`},
		Links: []notify.Link{{Label: "Service", URL: "https://example.com/s?a=1&b=2"}, {Label: "Job", URL: "https://example.com/queue/1"}},
		Image: card(t),
	}
}

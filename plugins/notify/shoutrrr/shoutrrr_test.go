package shoutrrr_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/patchbay-dev/patchbay/plugins/notify/shoutrrr"
	"github.com/patchbay-dev/patchbay/sdk/conformance"
	"github.com/patchbay-dev/patchbay/sdk/errs"
	"github.com/patchbay-dev/patchbay/sdk/notify"
)

func TestConformance(t *testing.T) {
	s := newServices(t)
	const token = "tok-0451-8821"
	conformance.TestNotify(t, shoutrrr.Plugin(), conformance.NotifyConfig{
		JSON: config("", s.generic("/ok?token="+token)),
		Invalid: []string{
			`{}`, `{"urls":[]}`, config("", ""), config("", "logger://"), config("", "nosuch://"+token), config("", "ntfy://"),
			config("", "discord://"+token),
			config("", "://"+token), config("", s.generic("/"), s.generic("/")), config(`,"timeout":"0s"`, s.generic("/")),
			config("", "smtp+http://"+token),
			config("", "matrix://"), config("", "ntfy:///topic"), config("", "generic://"),
		},
		Slow: &conformance.NotifyCase{JSON: config("", s.generic("/slow?token="+token))},
		Failures: []conformance.NotifyCase{
			{JSON: config("", s.generic("/status/503?token="+token)), Outcome: notify.Retryable},
			{JSON: config("", s.generic("/status/404?token="+token)), Outcome: notify.Refused},
			{JSON: config(`,"timeout":"50ms"`, s.generic("/slow?token="+token)), Outcome: notify.Uncertain},
		},
		Secrets: []string{token},
	})
}

const (
	wholeText  = "更新完成 100%\n\nline 1\nline 2\n\nJob: https://example.com/queue/1?a=b&c=d"
	gotifyKey  = "Aabcdefghijklmn"
	slackHook  = "AAAAAAAAA-BBBBBBBBB-123456789123456789123456"
	teamsHook  = "11111111-4444-4444-8444-cccccccccccc@22222222-4444-4444-8444-cccccccccccc/33333301222222222233333333333344/44444444-4444-4444-8444-cccccccccccc/V2ESyij_gAljSoUQHvZoZYzlpAoAXExyOl26dlf1xHEx05"
	matrixMore = "/?rooms=!room:example.com&disableTLS=yes"
)

// TestShapes looks at what each service gets, in the form that its makers publish.
func TestShapes(t *testing.T) {
	s := newServices(t)
	elsewhere(t, s)
	for _, tt := range []struct {
		name, url, method, path string
		// want are parts of query, header and body.
		want []string
	}{
		{"generic", s.generic("/hook"), "POST", "/hook", []string{"Title\n\n" + wholeText}},
		{"generic as JSON", s.generic("/hook?template=json"), "POST", "/hook", []string{`"title":"Title"`, `"message":"更新完成 100%\n\nline 1`}},
		{"ntfy", "ntfy://u:p@" + s.host() + "/topic?scheme=http", "POST", "/topic",
			[]string{wholeText, "Title=[Title]", "Authorization=[Basic dTpw]"}},
		{"gotify", "gotify://" + s.host() + "/" + gotifyKey + "?disabletls=yes", "POST", "/message",
			[]string{"token=" + gotifyKey, `"title":"Title"`, `"message":"更新完成 100%\n\nline 1`}},
		{"bark", "bark://:key@" + s.host() + "/?scheme=http", "POST", "/push",
			[]string{`"device_key":"key"`, `"title":"Title"`, `"body":"更新完成 100%`}},
		{"mattermost", "mattermost://" + s.host() + "/tok?disabletls=yes", "POST", "/hooks/tok", []string{`"text":"Title\n\n更新完成 100%`}},
		{
			"matrix", "matrix://:tok@" + s.host() + matrixMore, "POST", "/_matrix/client/r0/rooms/!room:example.com/send/m.room.message",
			[]string{`"msgtype":"m.text"`, `"body":"Title\n\n更新完成 100%`, "access_token=tok"},
		},
		{"slack", "slack://hook:" + slackHook + "@webhook", "POST", "/services/" + strings.ReplaceAll(slackHook, "-", "/"),
			[]string{`"text":"Title"`, `"text":"更新完成 100%"`}},
		{"discord", "discord://tok@123", "POST", "/api/webhooks/123/tok", []string{"Title", "更新完成 100%"}},
		{
			"teams", "teams://" + teamsHook + "?host=example.webhook.office.com", "POST",
			"/webhookb2/11111111-4444-4444-8444-cccccccccccc@22222222-4444-4444-8444-cccccccccccc/" +
				"IncomingWebhook/33333301222222222233333333333344/44444444-4444-4444-8444-cccccccccccc/V2ESyij_gAljSoUQHvZoZYzlpAoAXExyOl26dlf1xHEx05",
			[]string{`"@type":"MessageCard"`, `"title":"Title"`, "更新完成 100%"},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := client(t, config("", tt.url))
			// Nothing of an earlier notification comes back.
			for _, title := range []string{"Earlier", "Title"} {
				receipt, err := c.Send(t.Context(), event(title), notify.Target{})
				if err != nil || len(receipt.Warnings) > 0 || len(receipt.Delivered) != 4 {
					t.Fatalf("receipt %+v, %v", receipt, err)
				}
			}
			all := s.requests()
			got := all[len(all)-1]
			if got.method != tt.method || got.path != tt.path {
				t.Errorf("%s %s", got.method, got.path)
			}
			whole := got.query + "\n" + strings.ReplaceAll(got.body, `": `, `":`)
			for name, values := range got.header {
				whole += fmt.Sprintf("\n%s=%s", name, values)
			}
			for _, want := range tt.want {
				if !strings.Contains(whole, want) {
					t.Errorf("%q is missing in %s", want, whole)
				}
			}
			if strings.Contains(whole, "Earlier") {
				t.Errorf("the title of the notification before is there: %s", whole)
			}
		})
	}
}

// elsewhere leads what goes to services with fixed addresses to the stand-in, until the test ends.
func elsewhere(t *testing.T, s *services) {
	t.Helper()
	real := http.DefaultTransport
	to, err := url.Parse(s.URL)
	if err != nil {
		t.Fatal(err)
	}
	http.DefaultTransport = roundTripper(func(q *http.Request) (*http.Response, error) {
		q = q.Clone(q.Context())
		q.URL.Scheme, q.URL.Host = to.Scheme, to.Host
		return real.RoundTrip(q)
	})
	t.Cleanup(func() { http.DefaultTransport = real })
}

type roundTripper func(*http.Request) (*http.Response, error)

// RoundTrip implements http.RoundTripper.
func (f roundTripper) RoundTrip(q *http.Request) (*http.Response, error) { return f(q) }

func TestOutcomes(t *testing.T) {
	s := newServices(t)
	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close()
	closed := strings.TrimPrefix(gone.URL, "http://")
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusBadGateway)
		_, _ = w.Write([]byte(`{"message":"no upstream"}`))
	}))
	defer proxy.Close()
	for _, tt := range []struct {
		name, url string
		want      notify.Outcome
		reason    string
	}{
		{"200", s.generic("/status/200"), notify.Delivered, ""},
		{"400", s.generic("/status/400"), notify.Refused, errs.ReasonStatus},
		{"404", s.generic("/status/404"), notify.Refused, errs.ReasonStatus},
		{"408", s.generic("/status/408"), notify.Retryable, errs.ReasonStatus},
		{"429", s.generic("/status/429"), notify.Retryable, errs.ReasonStatus},
		{"500", s.generic("/status/500"), notify.Retryable, errs.ReasonStatus},
		{"slow", s.generic("/slow"), notify.Uncertain, notify.ReasonOutcomeUnknown},
		{"nobody listens", "generic+http://" + closed + "/tok-0451", notify.Retryable, errs.ReasonConnect},
		{"nobody listens to ntfy", "ntfy://" + closed + "/tok-0451?scheme=http", notify.Retryable, errs.ReasonConnect},
		{"nobody listens to matrix", "matrix://user:tok-0451@" + closed + matrixMore, notify.Retryable, errs.ReasonConnect},
		{"no TLS", "ntfy://" + s.host() + "/tok-0451", notify.Retryable, errs.ReasonConnect},
		{"ntfy refuses", "ntfy://" + s.host() + "/forbidden?scheme=http", notify.Refused, errs.ReasonStatus},
		{"ntfy is limited", "ntfy://" + s.host() + "/limited?scheme=http", notify.Retryable, errs.ReasonStatus},
		{"gotify behind a proxy that fails", "gotify://" + strings.TrimPrefix(proxy.URL, "http://") + "/" + gotifyKey + "?disabletls=yes",
			notify.Uncertain, notify.ReasonOutcomeUnknown},
		{"matrix refuses the login", "matrix://user:tok-0451@" + s.host() + matrixMore, notify.Refused, "LOGIN_REFUSED"},
		{"the library panics", "zulip://bot%40example.com:tok-0451@127.0.0.1:1/?stream=a", notify.Uncertain, notify.ReasonOutcomeUnknown},
	} {
		c := client(t, config(`,"timeout":"3s"`, tt.url))
		if tt.name == "slow" {
			c = client(t, config(`,"timeout":"100ms"`, tt.url))
		}
		_, err := c.Send(t.Context(), event("T"), notify.Target{})
		if got := notify.OutcomeOf(err); got != tt.want || err != nil && errs.From(err).Reason != tt.reason {
			t.Errorf("%s: %s, %v", tt.name, got, err)
		}
		if err != nil && (strings.Contains(err.Error(), "tok-") || strings.Contains(err.Error(), "127.0.0.1")) {
			t.Errorf("%s: the error tells the address: %v", tt.name, err)
		}
	}
}

func TestSeveral(t *testing.T) {
	s := newServices(t)
	for _, tt := range []struct {
		name     string
		paths    []string
		want     notify.Outcome
		warnings int
	}{
		{"all well", []string{"/a", "/b"}, notify.Delivered, 0},
		{"one fails", []string{"/status/404", "/b", "/status/500"}, notify.Delivered, 2},
		{"all refuse", []string{"/status/404", "/status/410"}, notify.Refused, 0},
		{"one may come back", []string{"/status/404", "/status/503"}, notify.Retryable, 0},
		{"one may have arrived", []string{"/status/503", "/slow"}, notify.Uncertain, 0},
	} {
		var urls []string
		for _, p := range tt.paths {
			urls = append(urls, s.generic(p))
		}
		receipt, err := client(t, config(`,"timeout":"200ms"`, urls...)).Send(t.Context(), event("T"), notify.Target{})
		if got := notify.OutcomeOf(err); got != tt.want || err == nil && len(receipt.Warnings) != tt.warnings {
			t.Errorf("%s: %+v, %v", tt.name, receipt, err)
		}
		if tt.name == "one fails" && !strings.Contains(strings.Join(receipt.Warnings, "; "), "urls[0] (generic) answered with status 404") {
			t.Errorf("warnings %q", receipt.Warnings)
		}
	}
}

// TestLongTexts sends more than a service takes.
func TestLongTexts(t *testing.T) {
	s := newServices(t)
	n := event("Title")
	n.Detail.Plain = strings.Repeat("网关", 3000)
	receipt, err := client(t, config("", s.generic("/long"))).Send(t.Context(), n, notify.Target{})
	if err != nil || len(receipt.Warnings) != 1 || len(receipt.Delivered) != 3 {
		t.Fatalf("receipt %+v, %v", receipt, err)
	}
	got := s.requests()[0].body
	if len(got) > 4000 || len(got) < 3900 || !utf8.ValidString(got) || !strings.HasSuffix(got, "…") || !strings.HasPrefix(got, "Title\n\n更新") {
		t.Errorf("%d bytes: %.40q", len(got), got)
	}
	least := &notify.Notification{ID: "n", Kind: "k", Version: 1, Title: notify.Text{Plain: "Alone"}}
	if _, err := client(t, config("", "ntfy://"+s.host()+"/topic?scheme=http")).Send(t.Context(), least, notify.Target{}); err != nil {
		t.Fatal(err)
	}
	if got := s.requests()[1]; got.body != "Alone" || got.header.Get("Title") != "Alone" {
		t.Errorf("a title alone arrives as %+v", got)
	}
}

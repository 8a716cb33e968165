package email_test

import (
	"mime"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/patchbay-dev/patchbay/plugins/internal/mta"
	"github.com/patchbay-dev/patchbay/plugins/notify/email"
	"github.com/patchbay-dev/patchbay/sdk/conformance"
	"github.com/patchbay-dev/patchbay/sdk/errs"
	"github.com/patchbay-dev/patchbay/sdk/notify"
	"github.com/patchbay-dev/patchbay/sdk/plugintest"
)

func TestConformance(t *testing.T) {
	s := mta.Start(t)
	slow := script(t, "127.0.0.1", map[string]string{".": "hang"})
	target := to(s.URL("smtp", s.Submission, "to=ops@patchbay.test"))
	config := withNearby(block(t, map[string]string{"ca_file": s.CAFile}))
	conformance.TestNotify(t, email.Plugin(), conformance.NotifyConfig{
		JSON: config,
		Invalid: []string{
			`{"smtp_url":"http://example.com/?to=a@example.com"}`, `{"smtp_url":"smtp://example.com/"}`,
			`{"smtp_url":"smtp://example.com/?to=nobody"}`,
			`{"smtp_url":"smtp://example.com/?to=a@example.com&subject=x"}`, `{"smtp_url":"smtps://example.com/?to=a@example.com&tls=none"}`,
			`{"ca_file":"missing.pem"}`, `{"timeout":"0s"}`, `{"timeout":"1h"}`, `{"subject_prefix":"a\r\nBcc: b@example.com"}`,
			`{"insecure_skip_verify":true}`,
			`{"allow_hosts":["*.example.com"]}`,
		},
		Target:     target,
		BadTargets: []string{`{"to":"a@example.com"}`},
		Slow:       &conformance.NotifyCase{Target: to("smtp://" + slow + "/?to=a@example.com")},
		Failures: []conformance.NotifyCase{
			{Target: to(s.URLWith("smtps", "wrong-4711", s.SMTPS, "to=ops@patchbay.test")), Outcome: notify.Refused},
			{Target: to(s.URL("smtps", s.SMTPS, "to="+s.Refused)), Outcome: notify.Refused},
			{Target: to(s.URL("smtps", s.SMTPS, "to="+s.Deferred)), Outcome: notify.Retryable},
			{JSON: withNearby(`{"timeout":"300ms"}`), Target: to("smtp://" + slow + "/?to=a@example.com"), Outcome: notify.Uncertain},
			{JSON: withNearby(`{}`), Target: target, Outcome: notify.Refused},
			{JSON: `{}`, Target: to("smtp://" + slow + "/?to=a@example.com"), Outcome: notify.Refused},
		},
		Received: func() (ids []string) {
			for _, m := range s.Messages() {
				id, _, _ := strings.Cut(strings.Trim(m.Header.Get("Message-ID"), "<>"), "@")
				ids = append(ids, id)
			}
			return ids
		},
		Secrets: []string{s.Password, "wrong-4711"},
	})
}

func TestWhatArrives(t *testing.T) {
	s := mta.Start(t)
	query := "to=Ops <ops@patchbay.test>,team+mail@patchbay.test&to=ops@patchbay.test&from=值班+机器人 <robot@sender.test>"
	for name, url := range map[string]string{
		"STARTTLS": s.URL("smtp", s.Submission, "tls=required&"+query), "TLS": s.URL("smtps", s.SMTPS, query),
		"plain": "smtp://127.0.0.1:" + port(s.Plain) + "?tls=none&" + query, "plain with a password": s.URL("smtp", s.Plain, query),
	} {
		before := len(s.Messages())
		c, out := guardedClient(t, block(t, map[string]string{"ca_file": s.CAFile, "smtp_url": url}))
		receipt, err := c.Send(t.Context(), finished(), notify.Target{})
		if err != nil {
			t.Fatalf("%s: %v\n%s", name, err, s.Log())
		}
		want := &notify.Receipt{MessageIDs: []string{"<n-1@sender.test>"},
			Delivered: []notify.Part{notify.PartTitle, notify.PartSummary, notify.PartDetail, notify.PartLinks}}
		if diff := cmp.Diff(want, receipt); diff != "" {
			t.Errorf("%s: receipt (-want +got):\n%s", name, diff)
		}
		if strings.Contains(out.String(), s.Password) {
			t.Errorf("%s: the log tells the password:\n%s", name, out)
		}
		got := s.Messages()[before:]
		var tos []string
		for _, m := range got {
			tos = append(tos, m.To)
			check(t, name, m)
		}
		slices.Sort(tos)
		if diff := cmp.Diff([]string{"ops@patchbay.test", "team+mail@patchbay.test"}, tos); diff != "" {
			t.Errorf("%s: recipients (-want +got):\n%s", name, diff)
		}
	}
}

func check(t *testing.T, name string, m mta.Message) {
	t.Helper()
	dec := new(mime.WordDecoder)
	subject, err := dec.DecodeHeader(m.Header.Get("Subject"))
	if err != nil || subject != "[Patchbay] "+finished().Title.Plain || strings.Contains(m.Header.Get("Subject"), "更") {
		t.Errorf("%s: subject %q, %v", name, subject, err)
	}
	from, err := m.Header.AddressList("From")
	if err != nil || len(from) != 1 || from[0].Name != "值班 机器人" || from[0].Address != "robot@sender.test" || m.From != "robot@sender.test" {
		t.Errorf("%s: from %v, %v; envelope %s", name, from, err, m.From)
	}
	all, err := m.Header.AddressList("To")
	if err != nil || len(all) != 2 || all[0].Name != "Ops" || all[1].Address != "team+mail@patchbay.test" {
		t.Errorf("%s: to %v, %v", name, all, err)
	}
	at, err := m.Header.Date()
	if err != nil || !at.Equal(time.Unix(1_700_000_000, 0)) {
		t.Errorf("%s: date %v, %v", name, at, err)
	}
	for header, want := range map[string]string{
		"Message-ID": "<n-1@sender.test>", "Auto-Submitted": "auto-generated", "X-Patchbay-Kind": "job_finished", "MIME-Version": "1.0",
		"User-Agent": "", "X-Mailer": "",
	} {
		if got := m.Header.Get(header); got != want {
			t.Errorf("%s: %s is %q, want %q", name, header, got, want)
		}
	}
	texts := read(t, m.Header, m.Raw)
	wantPlain := finished().Title.Plain + "\n\n商店 / web 服务已更新 (1.2 -> 1.3)。\n第二行\n\ndetail\n\n服务: https://example.com/s?a=1&b=2\nJob: /queue/1\n"
	if diff := cmp.Diff(wantPlain, strings.TrimRight(texts["text/plain"], "\n")+"\n"); diff != "" {
		t.Errorf("%s: plain text (-want +got):\n%s", name, diff)
	}
	rich := texts["text/html"]
	for _, want := range []string{
		"商店 &lt;web&gt; &amp; 🚀", "(1.2 -&gt; 1.3)。<br>\n第二行", "<p>One <b>two</b></p>no",
		`<a class="button" href="https://example.com/s?a=1&amp;b=2">服务</a>`,
		"Job: <code>/queue/1</code>", "prefers-color-scheme: dark", `class="card success"`,
	} {
		if !strings.Contains(rich, want) {
			t.Errorf("%s: %q is missing in:\n%s", name, want, rich)
		}
	}
	for _, bad := range []string{"onclick", "<img", "bad()", "javascript:", "src=", "@import", "url("} {
		if strings.Contains(rich, bad) {
			t.Errorf("%s: %q is in the HTML", name, bad)
		}
	}
}

func TestRefusals(t *testing.T) {
	s := mta.Start(t)
	const good = "ops@patchbay.test"
	for _, tt := range []struct {
		name, url, ca string
		want          notify.Outcome
		reason        string
		words         string
		warnings      int
	}{
		{"some are refused", s.URL("smtps", s.SMTPS, "to="+s.Refused+","+s.Deferred+","+good), s.CAFile, notify.Delivered, "", "", 2},
		{"all are refused", s.URL("smtps", s.SMTPS, "to="+s.Refused), s.CAFile, notify.Refused, errs.ReasonStatus, "550 5.1.1", 0},
		{"all are deferred", s.URL("smtps", s.SMTPS, "to="+s.Deferred), s.CAFile, notify.Retryable, errs.ReasonStatus, "450 4.2.1", 0},
		{"refused and deferred", s.URL("smtps", s.SMTPS, "to="+s.Refused+","+s.Deferred), s.CAFile, notify.Retryable, errs.ReasonStatus,
			"450 4.2.1", 0},
		{"wrong password", s.URLWith("smtp", "wrong-4711", s.Submission, "to="+good), s.CAFile, notify.Refused, "AUTH_FAILED", "535 5.7.8", 0},
		{"no password", "smtps://localhost:" + port(s.SMTPS) + "?to=" + good, s.CAFile, notify.Refused, errs.ReasonStatus, "554 5.7.1", 0},
		{"unknown authority", s.URL("smtp", s.Submission, "to="+good), "", notify.Refused, "CERTIFICATE_INVALID", "ca_file", 0},
		{"unknown authority, TLS", s.URL("smtps", s.SMTPS, "to="+good), "", notify.Refused, "CERTIFICATE_INVALID", "authority", 0},
		{"another name", strings.Replace(s.URL("smtps", s.SMTPS, "to="+good), "@localhost:", "@127.0.0.1:", 1), s.CAFile, notify.Refused,
			"CERTIFICATE_INVALID", "another name", 0},
		{"required and missing", s.URL("smtp", s.Plain, "tls=required&to="+good), s.CAFile, notify.Refused, "TLS_MISSING", "STARTTLS", 0},
		{"TLS on a plain port", s.URL("smtps", s.Plain, "to="+good), s.CAFile, notify.Refused, errs.ReasonProtocol, "does not speak TLS", 0},
		{"none where it is wanted", s.URL("smtp", s.Submission, "tls=none&to="+good), s.CAFile, notify.Refused, "AUTH_MISSING", "", 0},
	} {
		c, out := client(t, block(t, map[string]string{"ca_file": tt.ca}))
		receipt, err := c.Send(t.Context(), finished(), to(tt.url))
		e := errs.From(err)
		if got := notify.OutcomeOf(err); got != tt.want || err != nil && (e.Reason != tt.reason || !strings.Contains(e.Message, tt.words)) {
			t.Errorf("%s: %s, %+v", tt.name, got, e)
		}
		if err == nil && len(receipt.Warnings) != tt.warnings {
			t.Errorf("%s: %+v", tt.name, receipt)
		}
		for _, secret := range []string{s.Password, "wrong-4711"} {
			if err != nil && strings.Contains(err.Error(), secret) || strings.Contains(out.String(), secret) {
				t.Errorf("%s: a password is told: %v\n%s", tt.name, err, out)
			}
		}
	}
	if got := s.Messages(); len(got) != 1 || got[0].To != good {
		t.Errorf("%d messages arrived: %+v", len(got), got)
	}
}

// The authority's file is found beside the configuration file.
func TestRelativeAuthority(t *testing.T) {
	s := mta.Start(t)
	l := plugintest.Load(t, email.Plugin())
	c := plugintest.Config(t, notify.Kind, "ops", withNearby(`{"ca_file":"own/ca.pem"}`))
	pem, err := os.ReadFile(s.CAFile)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(c.GetBaseDir(), "own"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(c.GetBaseDir(), "own", "ca.pem"), pem, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := notify.NewClient(l.Conn, l.Configure(t, c)).Send(t.Context(), finished(),
		to(s.URL("smtps", s.SMTPS, "to=a@patchbay.test"))); err != nil {
		t.Error(err)
	}
}

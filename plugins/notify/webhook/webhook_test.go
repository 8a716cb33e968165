package webhook_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/patchbay-dev/patchbay/plugins/notify/webhook"
	"github.com/patchbay-dev/patchbay/sdk/conformance"
	"github.com/patchbay-dev/patchbay/sdk/errs"
	"github.com/patchbay-dev/patchbay/sdk/notify"
	"github.com/patchbay-dev/patchbay/sdk/schema"
)

func TestConformance(t *testing.T) {
	r := newReceiver(t)
	const path = "/hooks-0451"
	conformance.TestNotify(t, webhook.Plugin(), conformance.NotifyConfig{
		JSON: `{"allow_hosts":["` + r.host() + `"]}`,
		Invalid: []string{
			`{"url":"ftp://example.com"}`, `{"url":"http://127.0.0.1/"}`, `{"url":"https://localhost/"}`, `{"url":"https://u:p@example.com/"}`,
			`{"timeout":"0s"}`,
			`{"secrets":["whsec_short"]}`, `{"secrets":["` + strings.TrimPrefix(secretOne, "whsec_") + `"]}`, `{"allow_hosts":["*"]}`,
			`{"headers":{"A":"b"}}`, `{"url":"https://example.com","headers":{"webhook-id":"b"}}`,
			`{"url":"https://example.com","headers":{"A":"b\r\nC: d"}}`,
		},
		Target:     notify.Target{JSON: []byte(`{"url":"` + r.URL + path + `"}`), Secret: secretOne},
		BadTargets: []string{`{}`, `{"url":1}`, `{"url":"http://127.0.0.1:1/"}`, `{"url":"https://example.com/","more":1}`},
		Slow:       &conformance.NotifyCase{JSON: r.config("/slow", "")},
		Failures: []conformance.NotifyCase{
			{JSON: r.config("/status/503", ""), Outcome: notify.Retryable},
			{JSON: r.config("/status/410", ""), Outcome: notify.Refused},
			{JSON: r.config("/slow", `,"timeout":"50ms"`), Outcome: notify.Retryable},
		},
		Received: r.ids, Secrets: []string{path},
	})
}

func TestWhatArrives(t *testing.T) {
	r := newReceiver(t)
	c := client(t, r.config("/ok", `,"secrets":["`+secretOne+`","`+secretTwo+`"],"headers":{"x-from":"patchbay"}`))
	receipt, err := c.Send(t.Context(), alert(), notify.Target{})
	if err != nil || len(receipt.Warnings) > 0 || receipt.MessageIDs[0] != "n-1" || len(receipt.Delivered) != 4 {
		t.Fatalf("receipt %+v, %v", receipt, err)
	}
	n := alert()
	n.Payload = []byte("{ \"schema\" : \"v2\" }\n")
	if receipt, err = c.Send(t.Context(), n, notify.Target{}); err != nil || len(receipt.Delivered) != 1 ||
		receipt.Delivered[0] != notify.PartPayload {
		t.Fatalf("receipt %+v, %v", receipt, err)
	}
	got := r.requests()
	for i, q := range got {
		for _, secret := range []string{secretOne, secretTwo} {
			if err := verify(q, secret); err != nil {
				t.Errorf("request %d: %v", i, err)
			}
		}
		if verify(q, "whsec_"+strings.Repeat("A", 32)) == nil {
			t.Error("another secret verifies")
		}
		if q.header.Get("Content-Type") != "application/json" || q.header.Get("X-From") != "patchbay" ||
			q.header.Get("User-Agent") != "patchbay-test" {
			t.Errorf("header %v", q.header)
		}
	}
	if got[1].body != string(n.Payload) {
		t.Errorf("the payload arrives as %q", got[1].body)
	}
	var body struct {
		Kind, SentAt, Severity string
		Human                  struct{ Title, Summary, Detail string }
		Links                  []struct{ Label, URL string }
	}
	if err := json.Unmarshal([]byte(got[0].body), &body); err != nil {
		t.Fatal(err)
	}
	if body.Kind != "search.key_invalid" || body.SentAt != "2023-11-14T22:13:20Z" || body.Severity != "warning" ||
		body.Human.Title != "A key is invalid" || len(body.Links) != 1 {
		t.Errorf("body %s", got[0].body)
	}
}

func TestOutcomes(t *testing.T) {
	r := newReceiver(t)
	gone := httptest.NewServer(http.NotFoundHandler())
	closed := gone.URL
	gone.Close()
	for _, tt := range []struct {
		path   string
		want   notify.Outcome
		reason string
		after  time.Duration
	}{
		{"/status/200", notify.Delivered, "", 0},
		{"/status/202", notify.Delivered, "", 0},
		{"/status/204", notify.Delivered, "", 0},
		{"/long", notify.Delivered, "", 0},
		{"/redirect", notify.Refused, errs.ReasonStatus, 0},
		{"/status/400", notify.Refused, errs.ReasonStatus, 0},
		{"/status/404", notify.Refused, errs.ReasonStatus, 0},
		{"/status/408", notify.Retryable, errs.ReasonStatus, 0},
		{"/status/410", notify.Refused, "RECEIVER_GONE", 0},
		{"/status/429?after=7", notify.Retryable, errs.ReasonStatus, 7 * time.Second},
		{"/status/503?after=99999999999", notify.Retryable, errs.ReasonStatus, 24 * time.Hour},
		{"/status/500?after=-3", notify.Retryable, errs.ReasonStatus, 0},
		{"/status/502?after=soon", notify.Retryable, errs.ReasonStatus, 0},
		{"/reset", notify.Retryable, errs.ReasonLost, 0},
		{"/slow", notify.Retryable, errs.ReasonTimeout, 0},
	} {
		c := client(t, r.config(tt.path, `,"timeout":"200ms"`))
		_, err := c.Send(t.Context(), alert(), notify.Target{})
		e := errs.From(err)
		if got := notify.OutcomeOf(err); got != tt.want || err != nil && (e.Reason != tt.reason || e.RetryAfter != tt.after) {
			t.Errorf("%s: %s, %+v", tt.path, got, e)
		}
		if err != nil && strings.Contains(err.Error(), strings.Split(tt.path, "?")[0]) {
			t.Errorf("%s: the error names the path: %v", tt.path, err)
		}
	}
	for _, q := range r.requests() {
		if q.path == "/followed" {
			t.Error("a redirect was followed")
		}
	}
	c := client(t, `{"url":"`+closed+`","allow_hosts":["`+strings.TrimPrefix(closed, "http://")+`"]}`)
	if _, err := c.Send(t.Context(), alert(), notify.Target{}); notify.OutcomeOf(err) != notify.Retryable ||
		errs.From(err).Reason != errs.ReasonConnect {
		t.Errorf("nobody listens: %v", err)
	}
}

func TestInnerNetworksAreOutOfReach(t *testing.T) {
	r := newReceiver(t)
	c := client(t, `{}`)
	name := strings.Replace(r.URL, "127.0.0.1", "localhost", 1)
	for _, address := range []string{r.URL, name, "http://169.254.169.254/latest", "http://[::1]/", "http://10.0.0.1/", "file:///etc/passwd",
		"http://localhost/"} {
		_, err := c.Send(t.Context(), alert(), notify.Target{JSON: []byte(`{"url":"` + address + `"}`)})
		if e := errs.From(err); e == nil || e.Source != errs.Caller || notify.OutcomeOf(err) != notify.Refused {
			t.Errorf("%s: %v", address, err)
		}
	}
	if got := r.requests(); len(got) > 0 {
		t.Errorf("%d requests arrived", len(got))
	}
}

// What the configuration says goes before what a target says.
func TestTargetFillsIn(t *testing.T) {
	r := newReceiver(t)
	to := func(path string, secret schema.Secret) notify.Target {
		return notify.Target{JSON: []byte(`{"url":"` + r.URL + path + `"}`), Secret: secret}
	}
	for _, tt := range []struct {
		config         string
		target         notify.Target
		path, verifies string
		warnings       int
	}{
		{`{"allow_hosts":["` + r.host() + `"]}`, to("/mine", secretOne), "/mine", secretOne, 0},
		{`{"allow_hosts":["` + r.host() + `"]}`, to("/mine", ""), "/mine", "", 1},
		{`{"allow_hosts":["` + r.host() + `"]}`, to("/mine", secretOne+" "+secretTwo), "/mine", secretTwo, 0},
		{r.config("/configured", ""), to("/mine", secretOne), "/configured", secretOne, 0},
		{r.config("/configured", `,"secrets":["`+secretTwo+`"]`), to("/mine", secretOne), "/configured", secretTwo, 0},
		{r.config("/configured", ""), notify.Target{}, "/configured", "", 1},
	} {
		receipt, err := client(t, tt.config).Send(t.Context(), alert(), tt.target)
		if err != nil || len(receipt.Warnings) != tt.warnings {
			t.Fatalf("%s: %+v, %v", tt.config, receipt, err)
		}
		got := r.requests()
		last := got[len(got)-1]
		if last.path != tt.path {
			t.Errorf("%s: posted to %s", tt.config, last.path)
		}
		if tt.verifies == "" && last.header.Get("webhook-signature") != "" {
			t.Errorf("%s: signed without a secret", tt.config)
		}
		if tt.verifies != "" && verify(last, tt.verifies) != nil {
			t.Errorf("%s: %v", tt.config, verify(last, tt.verifies))
		}
	}
	_, err := client(t, `{}`).Send(context.Background(), alert(),
		notify.Target{JSON: []byte(`{"url":"https://example.com/"}`), Secret: "whsec_no"})
	if notify.OutcomeOf(err) != notify.Refused || strings.Contains(err.Error(), "whsec_no") {
		t.Errorf("a bad secret: %v", err)
	}
}

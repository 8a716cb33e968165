package webpush_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/patchbay-dev/patchbay/plugins/internal/pushtest"
	"github.com/patchbay-dev/patchbay/plugins/notify/webpush"
	"github.com/patchbay-dev/patchbay/sdk/conformance"
	"github.com/patchbay-dev/patchbay/sdk/errs"
	"github.com/patchbay-dev/patchbay/sdk/notify"
)

// TestPushService sends to a push service that decrypts.
func TestPushService(t *testing.T) {
	s := pushtest.Start(t)
	t.Run("conformance", func(t *testing.T) { conform(t, s) })
	t.Run("what arrives", func(t *testing.T) { arrives(t, s) })
	t.Run("the limit", func(t *testing.T) { fits(t, s) })
	t.Run("keys of the configuration", func(t *testing.T) { configured(t, s) })
	t.Run("an ended subscription", func(t *testing.T) { ended(t, s) })
}

func conform(t *testing.T, s *pushtest.Service) {
	public, private := keys(t)
	_, other := keys(t)
	sub := s.Subscribe(t, public)
	good := sub.Target(public, subject)
	bad := func(change func(*notify.PushTarget)) string {
		to := good
		change(&to)
		raw, _ := json.Marshal(to)
		return string(raw)
	}
	host := refusing(t)
	at := func(path string) notify.Target {
		to := good
		to.Endpoint = "http://" + host + path
		return target(t, to, private)
	}
	with := `{"allow_hosts":["` + s.Host + `","` + host + `"]`
	conformance.TestNotify(t, webpush.Plugin(), conformance.NotifyConfig{
		JSON: with + `}`,
		Invalid: []string{
			`{"ttl":"-1s"}`, `{"ttl":"700h"}`, `{"urgency":"now"}`, `{"timeout":"0s"}`, `{"allow_hosts":["*"]}`,
			`{"vapid_subject":"ops@example.com"}`,
			`{"vapid_public_key":"` + public + `"}`, `{"vapid_private_key":"` + private + `"}`, `{"vapid_subject":"http://example.com"}`,
			`{"vapid_public_key":"` + public + `","vapid_private_key":"` + other + `"}`,
			`{"vapid_public_key":"AAAA","vapid_private_key":"` + private + `"}`,
		},
		Target: target(t, good, private),
		BadTargets: []string{
			`{}`, `{"endpoint":1}`, bad(func(to *notify.PushTarget) { to.Endpoint = "" }),
			bad(func(to *notify.PushTarget) { to.Endpoint = "http://push.example.com/x" }),
			bad(func(to *notify.PushTarget) { to.Endpoint = "https://127.0.0.1/x" }),
			bad(func(to *notify.PushTarget) { to.Keys.P256dh = encodeMember(make([]byte, 65)) }),
			bad(func(to *notify.PushTarget) { to.Keys.P256dh = to.Keys.P256dh[:40] }),
			bad(func(to *notify.PushTarget) { to.Keys.Auth = encodeMember(make([]byte, 15)) }),
			bad(func(to *notify.PushTarget) { to.VAPIDPublicKey = "" }),
			bad(func(to *notify.PushTarget) { to.VAPIDPublicKey, _ = keys(t) }),
			bad(func(to *notify.PushTarget) { to.VAPIDSubject = "" }),
			bad(func(to *notify.PushTarget) { to.VAPIDSubject = "mailto:" }),
		},
		Slow: &conformance.NotifyCase{Target: at("/slow")},
		Failures: []conformance.NotifyCase{
			{Target: at("/status/503"), Outcome: notify.Retryable}, {Target: at("/status/410"), Outcome: notify.Refused},
			{Target: at("/status/403"), Outcome: notify.Refused},
			{JSON: with + `,"timeout":"50ms"}`, Target: at("/slow"), Outcome: notify.Retryable},
		},
		Received: func() []string { return received(t, sub) },
		Secrets:  []string{private, other, strings.TrimPrefix(good.Endpoint, "http://"+s.Host), good.Keys.Auth, good.Keys.P256dh},
	})
}

func arrives(t *testing.T, s *pushtest.Service) {
	public, private := keys(t)
	sub := s.Subscribe(t, public)
	c := client(t, allow(s.Host, `,"urgency":"high","ttl":"90s"`))
	to := target(t, sub.Target(public, subject), private)
	receipt, err := c.Send(t.Context(), event(), to)
	if err != nil || len(receipt.Warnings) > 0 || receipt.MessageIDs[0] != "n-1" || len(receipt.Delivered) != 3 {
		t.Fatalf("receipt %+v, %v", receipt, err)
	}
	n := event()
	n.Payload = []byte(`{"kind":"new_version","title":"T","body":"B","url":"/queue/1","human":{"title":"T"}}`)
	if receipt, err = c.Send(t.Context(), n, to); err != nil || !slices.Equal(receipt.Delivered, []notify.Part{notify.PartPayload}) {
		t.Fatalf("receipt %+v, %v", receipt, err)
	}
	n.Payload = []byte(`{"kind":"search.key_invalid"}`)
	if receipt, err = c.Send(t.Context(), n, to); err != nil || len(receipt.Delivered) != 4 {
		t.Fatalf("receipt %+v, %v", receipt, err)
	}
	texts := sub.Received(t)
	for i, want := range []message{
		{"n-1", "网关 has a new version", "1.2 → 1.3", "https://example.com/services/a/b", ""},
		{"n-1", "T", "B", "/queue/1", "new_version"},
		{"n-1", "网关 has a new version", "1.2 → 1.3", "https://example.com/services/a/b", "search.key_invalid"},
	} {
		if got := parse(t, texts[i]); got != want {
			t.Errorf("message %d: %+v", i, got)
		}
	}
	for _, p := range mine(s, sub) {
		if p.Header.Get("Ttl") != "90" || p.Header.Get("Urgency") != "high" || p.Header.Get("Content-Encoding") != "aes128gcm" || p.Size != 4096 {
			t.Errorf("header %v, %d bytes", p.Header, p.Size)
		}
		if topic := p.Header.Get("Topic"); len(topic) != 32 || topic != mine(s, sub)[0].Header.Get("Topic") {
			t.Errorf("topic %q", topic)
		}
		claims, err := verify(p.Header.Get("Authorization"), public)
		if err != nil {
			t.Fatal(err)
		}
		left := time.Until(time.Unix(claims.Exp, 0))
		if claims.Aud != "http://"+s.Host || claims.Sub != subject || left < time.Minute || left > 24*time.Hour {
			t.Errorf("claims %+v", claims)
		}
	}
}

// fits sends what just fits, what leaves no room for an id, and what is too long.
func fits(t *testing.T, s *pushtest.Service) {
	public, private := keys(t)
	sub := s.Subscribe(t, public)
	c := client(t, allow(s.Host, ""))
	to := target(t, sub.Target(public, subject), private)
	payload := func(size int) []byte {
		const frame = `{"title":"T","body":"","url":"/"}`
		return []byte(strings.Replace(frame, `""`, `"`+strings.Repeat("x", size-len(frame))+`"`, 1))
	}
	for i, tt := range []struct {
		payload  []byte
		id, url  string
		warnings int
	}{
		{payload(3993 - len(`"id":"n-1",`)), "n-1", "/", 0},
		{payload(3993), "", "/", 1},
		{payload(3994), "n-1", "https://example.com/services/a/b", 1},
		{[]byte(`["a"]`), "n-1", "https://example.com/services/a/b", 1},
		{[]byte(`{}`), "n-1", "https://example.com/services/a/b", 0},
	} {
		n := event()
		n.Payload = tt.payload
		receipt, err := c.Send(t.Context(), n, to)
		if err != nil || len(receipt.Warnings) != tt.warnings {
			t.Fatalf("%d: receipt %+v, %v", i, receipt, err)
		}
		if got := parse(t, sub.Received(t)[i]); got.ID != tt.id || got.URL != tt.url {
			t.Errorf("%d: %+v", i, got)
		}
	}
	n := event()
	n.Summary.Plain, n.Links[0].URL = strings.Repeat("\"网", 4000), "https://example.com/?"+strings.Repeat("a", 5000)
	receipt, err := c.Send(t.Context(), n, to)
	if err != nil || len(receipt.Warnings) != 2 {
		t.Fatalf("receipt %+v, %v", receipt, err)
	}
	texts := sub.Received(t)
	last := texts[len(texts)-1]
	if got := parse(t, last); len(last) < 2500 || got.URL != "/" || !strings.HasSuffix(got.Body, "…") ||
		strings.ContainsRune(got.Body, '\ufffd') || got.Title != n.Title.Plain {
		t.Errorf("%d bytes: %+v", len(last), got)
	}
}

// configured uses the keys and the subject of the configuration in place of those of the target.
func configured(t *testing.T, s *pushtest.Service) {
	public, private := keys(t)
	sub := s.Subscribe(t, public)
	config := allow(s.Host, `,"vapid_public_key":"`+public+`","vapid_private_key":"`+private+`","vapid_subject":"https://example.com/contact"`)
	other, otherPrivate := keys(t)
	c := client(t, config)
	for _, to := range []notify.Target{target(t, sub.Target("", ""), ""), target(t, sub.Target(other, subject), otherPrivate)} {
		if _, err := c.Send(t.Context(), event(), to); err != nil {
			t.Fatal(err)
		}
	}
	for _, p := range mine(s, sub) {
		if got, err := verify(p.Header.Get("Authorization"), public); err != nil || got.Sub != "https://example.com/contact" {
			t.Errorf("claims %+v, %v", got, err)
		}
	}
	if n := len(sub.Received(t)); n != 2 {
		t.Errorf("%d messages", n)
	}
	// The subscription is for one sender only.
	_, err := client(t, allow(s.Host, "")).Send(t.Context(), event(), target(t, sub.Target(other, subject), otherPrivate))
	if notify.OutcomeOf(err) != notify.Refused || !strings.Contains(err.Error(), "VAPID") {
		t.Errorf("another sender: %v", err)
	}
}

func ended(t *testing.T, s *pushtest.Service) {
	public, private := keys(t)
	sub := s.Subscribe(t, public)
	sub.Expire(t)
	_, err := client(t, allow(s.Host, "")).Send(t.Context(), event(), target(t, sub.Target(public, subject), private))
	if e := errs.From(err); notify.OutcomeOf(err) != notify.Refused || e.Reason != notify.ReasonGone {
		t.Errorf("got %v", err)
	}
	s.Answer(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", "7")
		w.WriteHeader(http.StatusTooManyRequests)
	})
	defer s.Answer(nil)
	_, err = client(t, allow(s.Host, "")).Send(t.Context(), event(), target(t, sub.Target(public, subject), private))
	if e := errs.From(err); notify.OutcomeOf(err) != notify.Retryable || e.RetryAfter != 7*time.Second {
		t.Errorf("got %v", err)
	}
}

func TestOutcomes(t *testing.T) {
	host := refusing(t)
	gone := httptest.NewServer(http.NotFoundHandler())
	closed := strings.TrimPrefix(gone.URL, "http://")
	gone.Close()
	c := client(t, `{"allow_hosts":["`+host+`","`+closed+`"],"timeout":"200ms"}`)
	for _, tt := range []struct {
		address string
		want    notify.Outcome
		reason  string
		after   time.Duration
	}{
		{host + "/status/200", notify.Delivered, "", 0},
		{host + "/status/201", notify.Delivered, "", 0},
		{host + "/status/202", notify.Delivered, "", 0},
		{host + "/status/302", notify.Refused, errs.ReasonStatus, 0},
		{host + "/status/400", notify.Refused, errs.ReasonStatus, 0},
		{host + "/status/401", notify.Refused, errs.ReasonStatus, 0},
		{host + "/status/403", notify.Refused, errs.ReasonStatus, 0},
		{host + "/status/404", notify.Refused, notify.ReasonGone, 0},
		{host + "/status/410", notify.Refused, notify.ReasonGone, 0},
		{host + "/status/413", notify.Refused, errs.ReasonStatus, 0},
		{host + "/status/429?after=7", notify.Retryable, errs.ReasonStatus, 7 * time.Second},
		{host + "/status/500", notify.Retryable, errs.ReasonStatus, 0},
		{host + "/status/503?after=soon", notify.Retryable, errs.ReasonStatus, 0},
		{host + "/reset", notify.Retryable, errs.ReasonLost, 0},
		{host + "/slow", notify.Retryable, errs.ReasonTimeout, 0},
		{closed + "/secret-path", notify.Retryable, errs.ReasonConnect, 0},
	} {
		to, private := somewhere(t, "http://"+tt.address)
		_, err := c.Send(t.Context(), event(), target(t, to, private))
		e := errs.From(err)
		if got := notify.OutcomeOf(err); got != tt.want || err != nil && (e.Reason != tt.reason || e.RetryAfter != tt.after) {
			t.Errorf("%s: %s, %+v", tt.address, got, e)
		}
		if err == nil {
			continue
		}
		_, path, _ := strings.Cut(tt.address, "/")
		path, _, _ = strings.Cut(path, "?")
		for _, secret := range []string{"/" + path, private, to.VAPIDPublicKey, to.Keys.P256dh, to.Keys.Auth} {
			if strings.Contains(err.Error(), secret) {
				t.Errorf("%s: the error tells %q: %v", tt.address, secret, err)
			}
		}
	}
}

func TestInnerNetworksAreOutOfReach(t *testing.T) {
	host := refusing(t)
	c := client(t, `{}`)
	for _, address := range []string{
		"https://" + host + "/status/201", "http://" + host + "/status/201", "https://169.254.169.254/", "https://[::1]/", "https://10.0.0.1/x",
		"https://localhost/x", "http://example.com/x", "ftp://example.com/x", "https://u:p@example.com/x", "https://example.com:22/x", "/x", "",
	} {
		to, private := somewhere(t, address)
		_, err := c.Send(t.Context(), event(), target(t, to, private))
		if e := errs.From(err); e == nil || e.Source != errs.Caller || notify.OutcomeOf(err) != notify.Refused {
			t.Errorf("%s: %v", address, err)
		}
	}
}

// A problem is shown at the member that it is about.
func TestWhereATargetIsWrong(t *testing.T) {
	c := client(t, `{}`)
	good, private := somewhere(t, "https://push.example.com/x")
	if ds, err := c.ValidateTarget(t.Context(), target(t, good, private)); err != nil || len(ds) > 0 {
		t.Fatalf("the good target: %v, %v", ds, err)
	}
	_, other := keys(t)
	for want, tt := range map[string]struct {
		change  func(*notify.PushTarget)
		private string
	}{
		"endpoint":       {func(to *notify.PushTarget) { to.Endpoint = "http://push.example.com/x" }, private},
		"keys.p256dh":    {func(to *notify.PushTarget) { to.Keys.P256dh = "!" }, private},
		"keys.auth":      {func(to *notify.PushTarget) { to.Keys.Auth = "" }, private},
		"vapidPublicKey": {func(to *notify.PushTarget) { to.VAPIDPublicKey = "AAAA" }, private},
		"vapidSubject":   {func(to *notify.PushTarget) { to.VAPIDSubject = "" }, private},
		"":               {func(*notify.PushTarget) {}, other},
	} {
		to := good
		tt.change(&to)
		ds, err := c.ValidateTarget(t.Context(), target(t, to, tt.private))
		if err != nil || len(ds) != 1 || ds[0].Path.String() != want || strings.Contains(ds.Error(), tt.private) {
			t.Errorf("%s: %v, %v", want, ds, err)
		}
	}
}

package telegram_test

import (
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/patchbay-dev/patchbay/plugins/notify/telegram"
	"github.com/patchbay-dev/patchbay/plugins/notify/telegram/telegramtest"
	"github.com/patchbay-dev/patchbay/sdk/conformance"
	"github.com/patchbay-dev/patchbay/sdk/errs"
	"github.com/patchbay-dev/patchbay/sdk/notify"
	"github.com/patchbay-dev/patchbay/sdk/schema"
)

const otherToken = "987654321:ZZhdqTcvCH1vGWJxfSeofSAs0K5PALDsaw1"

func TestConformance(t *testing.T) {
	s, slow, broken := telegramtest.New(t), telegramtest.New(t), telegramtest.New(t)
	slow.Fail("", telegramtest.Failure{Hang: true})
	broken.Fail("", telegramtest.Failure{Status: 502, Description: "Bad Gateway"})
	blocked := telegramtest.New(t)
	blocked.Fail("", telegramtest.Blocked)
	conformance.TestNotify(t, telegram.Plugin(), conformance.NotifyConfig{
		JSON: config(s, ""),
		Invalid: []string{
			`{"base_url":"http://api.telegram.org"}`, `{"base_url":"https://127.0.0.1/"}`, `{"base_url":"https://u:p@example.com/"}`,
			`{"base_url":""}`,
			`{"bot_token":"123:short"}`, `{"bot_token":"` + otherToken + `/x"}`, `{"chat_id":"operations"}`, `{"chat_id":"1 2"}`,
			`{"timeout":"0s"}`, `{"timeout":"1h"}`, `{"allow_hosts":["*"]}`,
		},
		Target:     target(s),
		BadTargets: []string{`{}`, `{"chatId":1}`, `{"chatId":""}`, `{"chatId":"a b"}`, `{"chatId":"1","more":1}`},
		Slow:       &conformance.NotifyCase{JSON: config(slow, ""), Target: target(slow)},
		Failures: []conformance.NotifyCase{
			{JSON: config(broken, ""), Target: target(broken), Outcome: notify.Retryable},
			{JSON: config(blocked, ""), Target: target(blocked), Outcome: notify.Refused},
			{JSON: config(slow, `,"timeout":"50ms"`), Target: target(slow), Outcome: notify.Uncertain},
			{JSON: config(s, ""), Target: notify.Target{JSON: target(s).JSON, Secret: otherToken}, Outcome: notify.Refused},
		},
		Secrets: []string{s.Token, otherToken, strings.Split(s.Token, ":")[1]},
	})
}

func TestPhotoThenDetail(t *testing.T) {
	s := telegramtest.New(t)
	n := finished(t)
	receipt, err := client(t, config(s, `,"silent":true`)).Send(t.Context(), n, target(s))
	if err != nil {
		t.Fatal(err)
	}
	want := &notify.Receipt{
		MessageIDs: []string{"101", "102"},
		Delivered:  []notify.Part{notify.PartTitle, notify.PartSummary, notify.PartLinks, notify.PartImage, notify.PartDetail},
	}
	if diff := cmp.Diff(want, receipt); diff != "" {
		t.Errorf("receipt (-want +got):\n%s", diff)
	}
	got := s.Messages()
	if len(got) != 2 || got[0].Method != "sendPhoto" || got[1].Method != "sendMessage" {
		t.Fatalf("messages %+v", got)
	}
	photo, detail := got[0], got[1]
	if photo.FileName != "patchbay-notification.png" || string(photo.Photo) != string(n.Image) || !photo.Silent || !detail.Silent {
		t.Errorf("photo %q of %d bytes, silent %v", photo.FileName, len(photo.Photo), photo.Silent)
	}
	if want := "更新完成 <web> & 🚀\n\nshop / web: 1.2 -> 1.3\n\nService"; photo.Text != want {
		t.Errorf("caption %q, want %q", photo.Text, want)
	}
	wantEntities := []telegramtest.Entity{
		{Type: "bold", Offset: 0, Length: 15}, {Type: "bold", Offset: 24, Length: 3},
		{Type: "text_link", Offset: 41, Length: 7, URL: "https://example.com/s?a=1&b=2"},
	}
	if diff := cmp.Diff(wantEntities, photo.Entities); diff != "" {
		t.Errorf("entities (-want +got):\n%s", diff)
	}
	if want := "One & two\n\n• a\n• b\n\nx  < y\n\nJob"; detail.Text != want || !detail.PreviewDisabled || detail.ParseMode != "HTML" {
		t.Errorf("detail %q, want %q; %+v", detail.Text, want, detail)
	}
}

func TestOneText(t *testing.T) {
	s := telegramtest.New(t)
	n := finished(t)
	n.Image, n.Detail.HTML = nil, ""
	n.Links = append(n.Links, notify.Link{Label: "Settings", URL: "/settings"})
	receipt, err := client(t, config(s, `,"bot_token":"`+s.Token+`","chat_id":"`+s.ChatID+`"`)).Send(t.Context(), n, notify.Target{})
	if err != nil || len(receipt.Warnings) > 0 || len(receipt.Delivered) != 4 {
		t.Fatalf("receipt %+v, %v", receipt, err)
	}
	got := s.Messages()
	want := "更新完成 <web> & 🚀\n\nshop / web: 1.2 -> 1.3\n\nlog\nlines\n\nService\nJob\nSettings: /settings"
	if len(got) != 1 || got[0].Text != want || !got[0].PreviewDisabled {
		t.Errorf("messages %+v", got)
	}
	if last := got[0].Entities[len(got[0].Entities)-1]; last.Type != "code" || last.Length != len("/settings") {
		t.Errorf("a site path is shown as %+v", last)
	}
}

func TestPhotoFails(t *testing.T) {
	for name, f := range map[string]telegramtest.Failure{
		"500":      telegramtest.PhotoBroken,
		"400":      {Status: 400, Description: "Bad Request: IMAGE_PROCESS_FAILED"},
		"413":      {Status: 413, Description: "Request Entity Too Large"},
		"markup":   {Status: 400, Description: "Bad Request: can't parse entities: Unsupported start tag"},
		"no JSON":  {Status: 502, Raw: "<html>Bad Gateway</html>"},
		"time-out": {Hang: true},
		"arrived":  {Hang: true, Kept: true},
		"dropped":  {Drop: true},
	} {
		t.Run(name, func(t *testing.T) {
			s := telegramtest.New(t)
			s.Fail("sendPhoto", f)
			c, out := logged(t, config(s, `,"timeout":"300ms"`))
			receipt, err := c.Send(t.Context(), finished(t), target(s))
			if err != nil {
				t.Fatal(err)
			}
			if len(receipt.Warnings) != 1 || !strings.HasPrefix(receipt.Warnings[0], "photo: ") ||
				slices.Contains(receipt.Delivered, notify.PartImage) {
				t.Errorf("receipt %+v", receipt)
			}
			if !strings.Contains(out.String(), "part=photo") || strings.Contains(out.String(), s.Token) {
				t.Errorf("log: %s", out)
			}
			got := s.Messages()
			if last := got[len(got)-1]; last.Method != "sendMessage" || !strings.HasPrefix(last.Text, "更新完成") ||
				!strings.Contains(last.Text, "One & two") {
				t.Errorf("messages %+v", got)
			}
		})
	}
}

func TestDetailFails(t *testing.T) {
	s := telegramtest.New(t)
	s.Fail("sendMessage", telegramtest.TooMany(3))
	receipt, err := client(t, config(s, "")).Send(t.Context(), finished(t), target(s))
	if err != nil || len(receipt.Warnings) != 1 || !strings.HasPrefix(receipt.Warnings[0], "detail: ") ||
		slices.Contains(receipt.Delivered, notify.PartDetail) {
		t.Errorf("receipt %+v, %v", receipt, err)
	}
}

func TestOutcomes(t *testing.T) {
	for _, tt := range []struct {
		name     string
		method   string
		failure  telegramtest.Failure
		want     notify.Outcome
		reason   string
		after    time.Duration
		requests int
		words    string
	}{
		{"photo 429", "sendPhoto", telegramtest.TooMany(7), notify.Retryable, errs.ReasonStatus, 7 * time.Second, 1, "retry after 7"},
		{"long 429", "", telegramtest.TooMany(1 << 30), notify.Retryable, errs.ReasonStatus, 24 * time.Hour, 1, ""},
		{"blocked", "", telegramtest.Blocked, notify.Refused, errs.ReasonStatus, 0, 1, "blocked by the user"},
		{"no chat", "", telegramtest.ChatNotFound, notify.Refused, errs.ReasonStatus, 0, 1, "chat not found"},
		{"token", "", telegramtest.Failure{Status: 401, Description: "Unauthorized"}, notify.Refused, "TOKEN_INVALID", 0, 1,
			"the bot token is not valid"},
		{"no bot", "", telegramtest.Failure{Status: 404, Description: "Not Found"}, notify.Refused, "TOKEN_INVALID", 0, 1,
			"the bot token is not valid"},
		{"moved", "", telegramtest.Failure{Status: 400, Description: "Bad Request: group chat was upgraded to a supergroup chat",
			MigrateTo: -1009}, notify.Refused, errs.ReasonStatus, 0, 1, "-1009"},
		{"down", "", telegramtest.Failure{Status: 503, Description: "Service Unavailable"}, notify.Retryable, errs.ReasonStatus, 0, 2, ""},
		{"hangs", "", telegramtest.Failure{Hang: true}, notify.Uncertain, notify.ReasonOutcomeUnknown, 0, 2, ""},
		{"dropped", "", telegramtest.Failure{Drop: true}, notify.Uncertain, notify.ReasonOutcomeUnknown, 0, 2, ""},
		{"captive", "", telegramtest.Failure{Raw: "<html>Welcome</html>"}, notify.Uncertain, notify.ReasonOutcomeUnknown, 0, 2,
			"not that of the API"},
		{"redirect", "", telegramtest.Failure{Status: 302, Raw: "moved"}, notify.Refused, errs.ReasonStatus, 0, 2, "302"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := telegramtest.New(t)
			tt.failure.Description += " " + s.Token
			s.Fail(tt.method, tt.failure)
			c, out := logged(t, config(s, `,"timeout":"200ms"`))
			_, err := c.Send(t.Context(), finished(t), target(s))
			e := errs.From(err)
			if got := notify.OutcomeOf(err); got != tt.want || e.Reason != tt.reason || e.RetryAfter != tt.after ||
				!strings.Contains(e.Message, tt.words) {
				t.Errorf("%s: %+v", got, e)
			}
			if s.Requests() != tt.requests {
				t.Errorf("%d requests, want %d", s.Requests(), tt.requests)
			}
			if strings.Contains(err.Error()+out.String(), strings.Split(s.Token, ":")[1]) {
				t.Errorf("the token is told: %v\n%s", err, out)
			}
		})
	}
}

// The photo may have arrived when its upload timed out: then a repetition may send it twice.
func TestUnknownPhotoThenFailingText(t *testing.T) {
	s := telegramtest.New(t)
	s.Fail("sendPhoto", telegramtest.Failure{Hang: true, Kept: true})
	s.Fail("sendMessage", telegramtest.Failure{Status: 503, Description: "Service Unavailable"})
	_, err := client(t, config(s, `,"timeout":"200ms"`)).Send(t.Context(), finished(t), target(s))
	if notify.OutcomeOf(err) != notify.Uncertain {
		t.Errorf("%v", err)
	}
}

func TestNobodyListens(t *testing.T) {
	s := telegramtest.New(t)
	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close()
	host := strings.TrimPrefix(gone.URL, "http://")
	_, err := client(t, `{"base_url":"`+gone.URL+`","allow_hosts":["`+host+`"]}`).Send(t.Context(), finished(t), target(s))
	if e := errs.From(err); notify.OutcomeOf(err) != notify.Retryable || e.Reason != errs.ReasonConnect || strings.Contains(e.Message, "bot") {
		t.Errorf("%v", err)
	}
}

func TestTargets(t *testing.T) {
	s := telegramtest.New(t)
	for _, tt := range []struct {
		name, config, json string
		secret             schema.Secret
		want               []string
	}{
		{"nothing", "{}", "", "", []string{"chatId", "the secret: there is no bot token"}},
		{"chat alone", "{}", `{"chatId":"@operations"}`, "", []string{"the secret: there is no bot token"}},
		{"both", "{}", `{"chatId":"@operations"}`, otherToken, nil},
		{"bad token", "{}", `{"chatId":"7"}`, "no-token", []string{"the secret: the bot token must have the form"}},
		{"configured", `{"bot_token":"` + s.Token + `","chat_id":"7"}`, "", "", nil},
		{"configured wins", `{"bot_token":"` + s.Token + `","chat_id":"7"}`, `{"chatId":"no chat"}`, "no-token", nil},
	} {
		ds, err := client(t, tt.config).ValidateTarget(t.Context(), notify.Target{JSON: []byte(tt.json), Secret: tt.secret})
		if err != nil || len(ds) != len(tt.want) {
			t.Errorf("%s: %v, %v", tt.name, ds, err)
			continue
		}
		for i, want := range tt.want {
			if !strings.Contains(ds[i].String(), want) || strings.Contains(ds[i].String(), "no-token") {
				t.Errorf("%s: %s, want %q", tt.name, ds[i], want)
			}
		}
	}
}

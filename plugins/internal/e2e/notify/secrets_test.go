package notify

import (
	"crypto/ecdh"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/patchbay-dev/patchbay/plugins/internal/dockertest"
	"github.com/patchbay-dev/patchbay/plugins/internal/e2e/kit"
	"github.com/patchbay-dev/patchbay/plugins/notify/telegram/telegramtest"
)

// The secrets that no counterpart knows.
const (
	wrongToken    = "110201543:planted-wrong-token-0123456789-abc"
	wrongPassword = "planted wrong/mail+password"
	nodeKey       = "planted-key-of-the-node-receiver"
)

// planted are secrets by what they are, each in the forms that it can take.
type planted map[string][]string

func (p planted) add(what, secret string, forms ...string) {
	p[what] = append(p[what], append(forms, secret, url.QueryEscape(secret), url.PathEscape(secret),
		base64.StdEncoding.EncodeToString([]byte(secret)), base64.RawURLEncoding.EncodeToString([]byte(secret)))...)
}

// password adds the password of a mail account, as URL and protocol have it.
func (p planted) password(what, user, password string) {
	p.add(what, password, strings.ReplaceAll(url.QueryEscape(password), "+", "%20"),
		base64.StdEncoding.EncodeToString([]byte("\x00"+user+"\x00"+password)))
}

// stayOut fails the test for each secret that is in a text.
func (p planted) stayOut(t testing.TB, where, text string) {
	t.Helper()
	for what, forms := range p {
		for _, form := range forms {
			if at := strings.Index(text, form); at >= 0 {
				t.Errorf("%s: the %s is there: %q", where, what, text[max(0, at-200):min(len(text), at+len(form)+50)])
				break
			}
		}
	}
}

// keyPair is a VAPID pair, base64url.
func keyPair(t testing.TB) (public, private string) {
	t.Helper()
	key, err := ecdh.P256().GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return base64.RawURLEncoding.EncodeToString(key.PublicKey().Bytes()), base64.RawURLEncoding.EncodeToString(key.Bytes())
}

// secretive is a core with all channels whose secrets are known to the test.
type secretive struct {
	*outlets
	planted
	c     *kit.Core
	a     *kit.App
	stack string
	// seen are answers of the API.
	seen strings.Builder
}

func (s *secretive) call(t *testing.T, method, path, body string, want int) string {
	t.Helper()
	a := s.c.API(t, method, path, body, want)
	fmt.Fprintf(&s.seen, "%s %s: %s\n", method, path, a.Body)
	return a.Body
}

func (s *secretive) change(t *testing.T, change map[string]any, want int) {
	t.Helper()
	s.call(t, http.MethodPut, "/api/notifications", jsonOf(t, change), want)
}

func TestNotifyKeepsSecrets(t *testing.T) {
	t.Parallel()
	bin := dockertest.NewestCompose(t)
	s := &secretive{outlets: outletsFor(t, "chat", "email", "webhook", "webPush", "gotify", "node"), planted: planted{}}
	s.a = kit.StartApp(t, bin, dockertest.Behaviour{Version: "1.0.0", Healthcheck: true})
	s.c = startNotify(t, s.outlets, bin.Path, "SVC_LOG_LEVEL=trace", "NODE_URL="+s.node.URL+"/ok?key="+nodeKey)
	s.stack = s.c.StackNamed(t, s.a.Project).ID
	public, private := keyPair(t)
	s.change(t, map[string]any{"webPush": map[string]any{"vapidPublicKey": public, "vapidPrivateKey": private}}, http.StatusOK)
	s.subscribe(t, s.c, public)
	s.add("bot token", s.bot.Token)
	s.add("wrong bot token", wrongToken)
	s.password("mail password", s.mail.User, s.mail.Password)
	s.password("wrong mail password", s.mail.User, wrongPassword)
	s.add("private VAPID key", private)
	s.add("signing secret", kit.SigningSecret, strings.TrimPrefix(kit.SigningSecret, "whsec_"))
	s.add("push auth key", s.sub.Keys.Auth)
	s.add("key of the service", gotifyKey)
	s.add("key of the Node receiver", nodeKey)
	s.add("secret of the trigger", triggerSecret)

	waitForStates(t, s.c, announceVersion(t, s.c, s.a, s.stack, "1.1.0"), s.every("delivered", nil))
	kit.Contains(t, s.call(t, http.MethodPost, "/api/notifications/test", `{"message":"a test"}`, http.StatusOK), `{"ok":true`)
	s.everyoneFails(t)
	s.malformed(t)
	s.look(t)
}

// everyoneFails has each channel refused by a counterpart that tells all it knows.
func (s *secretive) everyoneFails(t *testing.T) {
	t.Helper()
	// A refusal by the chat in words that hold the token, then one of a token that is wrong.
	s.bot.Fail("", telegramtest.Failure{Status: http.StatusBadRequest, Description: "Bad Request: the token " + s.bot.Token + " may not"})
	kit.Contains(t, s.call(t, http.MethodPost, "/api/notifications/test", `{"channel":"chat"}`, http.StatusOK), `"state":"failed"`)
	s.bot.Fail("", telegramtest.Failure{Drop: true})
	kit.Contains(t, s.call(t, http.MethodPost, "/api/notifications/test", `{"channel":"chat"}`, http.StatusOK), `"ok":false`)
	s.bot.Heal()
	s.push.Answer(func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusForbidden)
		fmt.Fprint(w, r.Header, r.URL, s.sub.Keys.Auth, s.planted["private VAPID key"])
	})
	setAnswer(s.hook, http.StatusInternalServerError,
		func(p kit.Arrival) string {
			return fmt.Sprint("bad signature, want that of ", kit.SigningSecret, p.Header)
		})
	setAnswer(s.gotify, http.StatusInternalServerError, func(kit.Arrival) string {
		return `{"error":"` + gotifyKey + `","errorCode":500,"errorDescription":"` + gotifyKey + `"}`
	})
	s.change(t, map[string]any{
		"chat":  map[string]any{"botToken": wrongToken},
		"email": map[string]any{"smtpUrl": s.mail.URLWith("smtp", wrongPassword, s.mail.Submission, "to=a@patchbay.test&from="+mailSender)},
	}, http.StatusOK)
	s.c.Stop()
	s.c.Env = append(s.c.Env, "NODE_URL="+s.node.URL+"/broken?key="+nodeKey)
	s.c.Start()
	id := announceVersion(t, s.c, s.a, s.stack, "1.2.0")
	m := waitForStates(t, s.c, id, s.every("failed", map[string]string{"webhook": "waiting", "gotify": "waiting", "node": "unknown"}))
	for _, d := range m.Deliveries {
		kit.Eventually(t, kit.StartWithin, d.Channel+" tells what is wrong", func() bool {
			for _, m := range readHistory(t, s.c) {
				if m.ID == id && m.to(t, d.Channel).Error != "" {
					return true
				}
			}
			return false
		})
	}
	kit.Contains(t, s.call(t, http.MethodPost, "/api/notifications/test", ``, http.StatusOK), `{"ok":false`, `"state":"failed"`, "401", "535",
		"403", "500")
}

// malformed sends secrets that cannot be.
func (s *secretive) malformed(t *testing.T) {
	t.Helper()
	s.add("malformed bot token", "planted malformed token")
	s.add("malformed mail password", "planted-malformed-password")
	s.add("malformed signing secret", "whsec_planted!malformed")
	s.add("malformed private key", "planted-malformed-private-key")
	for _, change := range []map[string]any{
		{"chat": map[string]any{"botToken": "planted malformed token"}},
		{"email": map[string]any{"smtpUrl": "smtp://ops:planted-malformed-password@[::1/?to=a@patchbay.test"}},
		{"email": map[string]any{"smtpUrl": "http://ops:planted-malformed-password@mail.example/?to=a@patchbay.test"}},
		{"email": map[string]any{"smtpUrl": "smtp://ops:planted-malformed-password%zz@mail.example:25/?to=a@patchbay.test"}},
		{"email": map[string]any{"smtpUrl": "smtp://ops:planted-malformed-password@mail.example:99999/?to=nobody"}},
		{"webhook": map[string]any{"secret": "whsec_planted!malformed"}},
		{"webPush": map[string]any{"vapidPrivateKey": "planted-malformed-private-key"}},
		{"webPush": map[string]any{"vapidPublicKey": s.planted["private VAPID key"][0]}},
		{"chat": map[string]any{"botToken": map[string]any{"planted malformed token": 1}}},
	} {
		s.change(t, change, http.StatusBadRequest)
	}
}

// look looks for the secrets wherever a person or another channel could read them.
func (s *secretive) look(t *testing.T) {
	t.Helper()
	s.stayOut(t, "answers of the API", s.seen.String())
	s.c.API(t, http.MethodPost, "/api/deploy-check/report/refresh", "", http.StatusAccepted)
	kit.Eventually(t, kit.StartWithin, "the deploy check is done", func() bool {
		return s.c.Send(t, kit.Request{Method: http.MethodGet, Path: "/api/deploy-check/report"}).Status == http.StatusOK
	})
	jobs := kit.Ask[struct{ Jobs []struct{ ID string } }](t, s.c, "/api/jobs?limit=200").Jobs
	paths := []string{
		"/api/notifications", "/api/notifications/history", "/api/web-push/subscriptions", "/api/jobs", "/api/settings", "/api/stacks",
		"/api/deploy-check/report",
		"/notifications", "/settings", "/queue", "/",
	}
	for _, j := range jobs {
		paths = append(paths, "/api/jobs/"+j.ID)
	}
	for _, path := range paths {
		a := s.c.Send(t, kit.Request{Method: http.MethodGet, Path: path})
		if a.Status >= http.StatusInternalServerError {
			t.Errorf("%s: status %d: %s", path, a.Status, a.Body)
		}
		s.stayOut(t, path, a.Body)
	}
	for _, args := range [][]string{{"config", "show"}, {"plugin", "list"}} {
		out := s.c.Run("", args...)
		s.stayOut(t, strings.Join(args, " "), out.Stdout+out.Stderr)
	}
	s.others(t)
	s.c.Stop()
	s.stayOut(t, "log", s.c.Logs())
	s.files(t)
}

// others looks at what the channels were sent.
func (s *secretive) others(t *testing.T) {
	t.Helper()
	arrived := map[string]any{"chat": s.bot.Messages(), "webPush": s.sub.Received(t)}
	var texts []string
	for _, m := range s.mail.Messages() {
		l := openLetter(t, m.Raw)
		texts = append(texts, string(m.Raw), l.subject, l.plain, l.html)
	}
	arrived["email"] = texts
	for name, r := range map[string]*kit.Receiver{"webhook": s.hook, "gotify": s.gotify} {
		var bodies []string
		for _, p := range listArrivals(r) {
			bodies = append(bodies, p.Body)
		}
		arrived[name] = bodies
	}
	s.node.Mu.Lock()
	arrived["node"] = s.node.Texts
	s.node.Mu.Unlock()
	for name, what := range arrived {
		raw, err := json.Marshal(what)
		if err != nil || len(raw) < 100 {
			t.Errorf("%s got %s, %v", name, raw, err)
		}
		s.stayOut(t, "what "+name+" got", string(raw))
	}
}

// files looks at all that the core keeps, and that the database holds the notifications at all.
func (s *secretive) files(t *testing.T) {
	t.Helper()
	sizes := map[string]int{}
	err := filepath.WalkDir(filepath.Join(s.c.Dir, "data"), func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		raw, err := os.ReadFile(path)
		sizes[d.Name()] = len(raw)
		s.stayOut(t, path, string(raw))
		return err
	})
	if err != nil || sizes["patchbay.sqlite3"] == 0 {
		t.Errorf("the core keeps %v, %v", sizes, err)
	}
	db := s.c.Records(t, kit.Storage{})
	if n := db.Number("SELECT COUNT(*) FROM notify_deliveries WHERE state = 'failed' AND error <> ''"); n < 3 {
		t.Errorf("%d deliveries have failed", n)
	}
}

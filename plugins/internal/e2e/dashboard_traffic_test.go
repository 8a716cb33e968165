package e2e

import (
	"fmt"
	"math"
	"net/http"
	"net/smtp"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/patchbay-dev/patchbay/plugins/codehost/github/githubtest"
	"github.com/patchbay-dev/patchbay/plugins/internal/dockertest"
	"github.com/patchbay-dev/patchbay/plugins/translator/openai/openaitest"
)

// pictureSpan is how long the core works for the picture of the dashboard.
const pictureSpan = 3 * time.Minute

// busy is a core with every service, which does what the panels of the dashboard show. It has containers only where pictures are
// asked for: they need an engine.
type busy struct {
	*core
	t              *testing.T
	up             *upstream
	token, limited string
	key, mailbox   string
	releases       []string
	// service is the id of a service of compose, "" without containers.
	service string
	app     *app
	steps   int
}

// busyHCL is the configuration of the core: a chain of two search backends, mail whose channel is a webhook, releases with a
// translator.
func busyHCL(t *testing.T, up *upstream) string {
	hook := newReceiver(t)
	hub, model := wordyHub(t, 20), openaitest.New(t, modelKey, "small", "large")
	for i := range 9 {
		hub.AddRepo(githubtest.Repo{FullName: fmt.Sprintf("acme/r%d", i)})
	}
	return strings.Replace(mailHCL, "dns.hand", "dns.hand\n  notify   = [notify.ops]", 1) + translatingHCL(storage{}, hub, model, "") +
		chainHCL(up.url, "") +
		fmt.Sprintf("notify \"webhook\" \"ops\" {\n  config {\n    url         = %q\n    allow_hosts = [%q]\n  }\n}\n", hook.URL+"/hook",
			hook.host)
}

// startBusy runs the core.
func startBusy(t *testing.T) *busy {
	t.Helper()
	s := &busy{t: t, up: startUpstream(t, "-no-history")}
	hcl := busyHCL(t, s.up)
	if os.Getenv(picturesEnv) != "" {
		bin := dockertest.NewestCompose(t)
		s.app = startApp(t, bin, dockertest.Behaviour{Version: "1.0.0", Healthcheck: true})
		hcl += containersHCL(bin.Path, "")
	}
	s.core = localCore(t, hcl)
	s.start()
	t.Cleanup(s.stop)
	s.addKeys("tvly-first", "tvly-second", "tvly-third")
	s.token, s.limited = s.core.token(), s.cli("token", "create", "-requests-minute", "20")
	s.key = s.user("ada@example.com", "member")
	s.releases = s.releaseIDs(t, s.key, 20)
	s.mailbox = strings.TrimSpace(s.cli("mailbox", "create", "-owner", "ada@example.com"))
	if s.app != nil {
		s.service = s.stackNamed(t, s.app.project).service(t, "web").ID
	}
	return s
}

// work does half a second of what the core is there for. What it does changes with its turns, so that the curves have a shape.
func (s *busy) work() {
	n := s.steps
	s.steps++
	began := time.Now()
	defer func() { time.Sleep(time.Until(began.Add(500 * time.Millisecond))) }()
	// A wave of 40 seconds.
	wave := 1 + math.Sin(float64(n)*2*math.Pi/80)
	if n%5 == 0 {
		s.up.reset()
		switch {
		case n%90 == 30:
			s.up.script(scripted{Path: "/search", Times: 3, Fault: "reset"})
		case n%90 == 75:
			s.up.script(scripted{Path: "/search", Times: 5, Status: http.StatusInternalServerError})
		}
		s.up.script(scripted{Path: "/search", Times: -1, DelayMS: 8 + int(20*wave) + n%7*4})
	}
	for range 1 + int(3*wave) {
		s.post(s.t, s.token, "search", `{"query":"how do plugins restart"}`)
	}
	if n%3 == 0 {
		s.post(s.t, s.token, "extract", `{"urls":["https://example.com/"]}`)
	}
	// The token's limit is reached in these turns.
	if n%100 > 60 && n%100 < 80 {
		for range 4 {
			s.post(s.t, s.limited, "search", `{"query":"weather"}`)
		}
	}
	if n == 12 || n == 40 || n == 150 {
		must(s.t, syscall.Kill(s.pluginOf("search/tavily"), syscall.SIGKILL))
	}
	s.workBeside(n, wave)
	s.workOnContainers(n)
}

// workBeside sends mail and starts other work beside the searches, as much of it as the wave is high.
func (s *busy) workBeside(n int, wave float64) {
	for i := range int(2 * wave) {
		s.sendMail(s.mailbox, fmt.Sprintf("Subject: Report %d.%d", n, i), "Hello.")
	}
	if n%4 == 0 {
		if smtp.SendMail(s.smtpAddress(), nil, "ada@example.com", []string{"nobody@mail.localhost"},
			[]byte("Subject: news\r\n\r\nHello.\r\n")) == nil {
			s.t.Error("mail to an unknown address is accepted")
		}
		s.send(s.t, request{method: http.MethodGet, path: "/nothing/is/here"})
	}
	if n%12 == 0 {
		s.releasesAPI(s.t, s.key, http.MethodPost, "sync/releases", "")
	}
	if n%16 == 4 {
		s.post(s.t, s.key, "/releases/api/translate/requests",
			`{"mode":"async","items":[`+translationInput(s.releases[n/16%len(s.releases)])+`]}`)
	}
	if n%40 == 20 {
		s.post(s.t, s.key, "/releases/api/repos/import", fmt.Sprintf(`{"content":"acme/r%d"}`, n/40%9))
		s.post(s.t, s.key, "/mail/api/mailboxes", fmt.Sprintf(`{"localPart":"report-%d"}`, n))
	}
}

// workOnContainers checks a service of compose every 10 seconds, finds a new version of it in time, and updates to that.
func (s *busy) workOnContainers(n int) {
	if s.app == nil {
		return
	}
	switch {
	case n == 95:
		s.app.push(s.t, dockertest.Behaviour{Version: "1.1.0", Healthcheck: true})
	case n == 255:
		s.beginJob(s.t, "/api/updates", updateBody(s.core.service(s.t, s.service), ""))
	case n%20 == 10:
		s.beginJob(s.t, "/api/checks", fmt.Sprintf(`{"scope":"service","serviceId":%q}`, s.service))
	}
}

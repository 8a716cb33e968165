package core

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
	"github.com/patchbay-dev/patchbay/plugins/internal/e2e/kit"
	"github.com/patchbay-dev/patchbay/plugins/translator/openai/openaitest"
)

// pictureSpan is how long the core works for the picture of the dashboard.
const pictureSpan = 3 * time.Minute

// busy is a core with every service, which does what the panels of the dashboard show. It has containers only where pictures are
// asked for: they need an engine.
type busy struct {
	*kit.Core
	t              *testing.T
	up             *kit.Upstream
	token, limited string
	key, mailbox   string
	releases       []string
	// service is the id of a service of compose, "" without containers.
	service string
	app     *kit.App
	steps   int
}

// busyHCL is the configuration of the core: a chain of two search backends, mail whose channel is a webhook, releases with a
// translator.
func busyHCL(t *testing.T, up *kit.Upstream) string {
	hook := kit.NewReceiver(t)
	hub, model := kit.WordyHub(t, 20), openaitest.New(t, kit.ModelKey, "small", "large")
	for i := range 9 {
		hub.AddRepo(githubtest.Repo{FullName: fmt.Sprintf("acme/r%d", i)})
	}
	return strings.Replace(kit.MailHCL, "dns.hand", "dns.hand\n  notify   = [notify.ops]", 1) + kit.TranslatingHCL(kit.Storage{}, hub, model, "") +
		kit.ChainHCL(up.URL, "") +
		fmt.Sprintf("notify \"webhook\" \"ops\" {\n  config {\n    url         = %q\n    allow_hosts = [%q]\n  }\n}\n", hook.URL+"/hook",
			hook.Host)
}

// startBusy runs the core.
func startBusy(t *testing.T) *busy {
	t.Helper()
	s := &busy{t: t, up: kit.StartUpstream(t, "-no-history")}
	hcl := busyHCL(t, s.up)
	if os.Getenv(kit.PicturesEnv) != "" {
		bin := dockertest.NewestCompose(t)
		s.app = kit.StartApp(t, bin, dockertest.Behaviour{Version: "1.0.0", Healthcheck: true})
		hcl += kit.ContainersHCL(bin.Path, "")
	}
	s.Core = kit.LocalCore(t, hcl)
	s.Start()
	t.Cleanup(s.Stop)
	s.AddKeys("tvly-first", "tvly-second", "tvly-third")
	s.token, s.limited = s.Core.Token(), s.CLI("token", "create", "-requests-minute", "20")
	s.key = s.User("ada@example.com", "member")
	s.releases = s.ReleaseIDs(t, s.key, 20)
	s.mailbox = strings.TrimSpace(s.CLI("mailbox", "create", "-owner", "ada@example.com"))
	if s.app != nil {
		s.service = s.StackNamed(t, s.app.Project).Service(t, "web").ID
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
		s.up.Reset()
		switch {
		case n%90 == 30:
			s.up.Script(kit.Scripted{Path: "/search", Times: 3, Fault: "reset"})
		case n%90 == 75:
			s.up.Script(kit.Scripted{Path: "/search", Times: 5, Status: http.StatusInternalServerError})
		}
		s.up.Script(kit.Scripted{Path: "/search", Times: -1, DelayMS: 8 + int(20*wave) + n%7*4})
	}
	for range 1 + int(3*wave) {
		s.Post(s.t, s.token, "search", `{"query":"how do plugins restart"}`)
	}
	if n%3 == 0 {
		s.Post(s.t, s.token, "extract", `{"urls":["https://example.com/"]}`)
	}
	// The token's limit is reached in these turns.
	if n%100 > 60 && n%100 < 80 {
		for range 4 {
			s.Post(s.t, s.limited, "search", `{"query":"weather"}`)
		}
	}
	if n == 12 || n == 40 || n == 150 {
		kit.Must(s.t, syscall.Kill(s.PluginOf("search/tavily"), syscall.SIGKILL))
	}
	s.workBeside(n, wave)
	s.workOnContainers(n)
}

// workBeside sends mail and starts other work beside the searches, as much of it as the wave is high.
func (s *busy) workBeside(n int, wave float64) {
	for i := range int(2 * wave) {
		s.SendMail(s.mailbox, fmt.Sprintf("Subject: Report %d.%d", n, i), "Hello.")
	}
	if n%4 == 0 {
		if smtp.SendMail(s.SMTPAddress(), nil, "ada@example.com", []string{"nobody@mail.localhost"},
			[]byte("Subject: news\r\n\r\nHello.\r\n")) == nil {
			s.t.Error("mail to an unknown address is accepted")
		}
		s.Send(s.t, kit.Request{Method: http.MethodGet, Path: "/nothing/is/here"})
	}
	if n%12 == 0 {
		s.ReleasesAPI(s.t, s.key, http.MethodPost, "sync/releases", "")
	}
	if n%16 == 4 {
		s.Post(s.t, s.key, "/releases/api/translate/requests",
			`{"mode":"async","items":[`+kit.TranslationInput(s.releases[n/16%len(s.releases)])+`]}`)
	}
	if n%40 == 20 {
		s.Post(s.t, s.key, "/releases/api/repos/import", fmt.Sprintf(`{"content":"acme/r%d"}`, n/40%9))
		s.Post(s.t, s.key, "/mail/api/mailboxes", fmt.Sprintf(`{"localPart":"report-%d"}`, n))
	}
}

// workOnContainers checks a service of compose every 10 seconds, finds a new version of it in time, and updates to that.
func (s *busy) workOnContainers(n int) {
	if s.app == nil {
		return
	}
	switch {
	case n == 95:
		s.app.Push(s.t, dockertest.Behaviour{Version: "1.1.0", Healthcheck: true})
	case n == 255:
		s.BeginJob(s.t, "/api/updates", kit.UpdateBody(s.Core.Service(s.t, s.service), ""))
	case n%20 == 10:
		s.BeginJob(s.t, "/api/checks", fmt.Sprintf(`{"scope":"service","serviceId":%q}`, s.service))
	}
}

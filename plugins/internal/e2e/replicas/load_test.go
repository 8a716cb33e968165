package replicas

import (
	"fmt"
	"net/http"
	"net/smtp"
	"net/url"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/patchbay-dev/patchbay/plugins/internal/e2e/kit"
)

// load is a steady load on several cores: 100 questions about usage and 100 searches per second through a proxy, 50 mails per second to
// the cores themselves.
type load struct {
	t     *testing.T
	front *kit.Core
	cores []*kit.Core
	token string
	box   string

	gets, posts, mails atomic.Int64
	done               chan struct{}
	clients            sync.WaitGroup

	mu        sync.Mutex
	failed    []string
	failedGet []string
	// acknowledged are the subjects of the mails that a core has taken in.
	acknowledged []string
}

const (
	// posters is how many searches are in flight at most.
	posters = 10
	getters = 10
	mailers = 5
	// each is the time between two requests of a client.
	each = 100 * time.Millisecond
)

// startUnderLoad runs three cores behind nginx, and the load on them until stop.
func startUnderLoad(t *testing.T, s setup) ([]*kit.Core, *load) {
	t.Helper()
	cores := startCores(t, s, 3)
	return cores, startLoad(t, startNginx(t, cores), cores, knownToken(t, cores))
}

// startLoad runs the load until stop.
func startLoad(t *testing.T, front *kit.Core, cores []*kit.Core, token string) *load {
	t.Helper()
	l := &load{t: t, front: front, cores: cores, token: token, box: cores[0].CLI("mailbox", "create"), done: make(chan struct{})}
	for range getters {
		l.repeat(func(int) { l.sendGet() })
	}
	for range posters {
		l.repeat(func(int) { l.sendPost() })
	}
	for i := range mailers {
		l.repeat(func(n int) { l.deliver(fmt.Sprintf("mail-%d-%d", i, n), i+n) })
	}
	return l
}

// repeat has one client do something ten times a second.
func (l *load) repeat(do func(n int)) {
	l.clients.Go(func() {
		tick := time.NewTicker(each)
		defer tick.Stop()
		for n := 0; ; n++ {
			select {
			case <-l.done:
				return
			case <-tick.C:
				do(n)
			}
		}
	})
}

// describe returns what is wrong with an answer, or "".
func describe(a kit.Answer, err error) string {
	switch {
	case err != nil:
		return "connection: " + err.Error()
	case a.Status != http.StatusOK:
		return fmt.Sprint(a.Status, " ", a.Body)
	}
	return ""
}

func (l *load) sendGet() {
	wrong := describe(l.front.Try(kit.Request{Method: http.MethodGet, Path: "usage", Token: l.token}))
	l.note(&l.gets, &l.failedGet, wrong)
}

func (l *load) sendPost() {
	l.note(&l.posts, &l.failed, describe(l.front.Try(kit.Request{Path: "search", Token: l.token, Body: `{"query":"plugin"}`})))
}

// deliver hands a mail to a core, or to the next when that one does not take it, as a mail server does.
func (l *load) deliver(subject string, at int) {
	for i := range l.cores {
		if sendMail(l.cores[(at+i)%len(l.cores)], l.box, subject) == nil {
			l.mails.Add(1)
			l.mu.Lock()
			l.acknowledged = append(l.acknowledged, subject)
			l.mu.Unlock()
			return
		}
	}
}

// sendMail hands a mail to a core and waits for its answer.
func sendMail(c *kit.Core, box, subject string) error {
	return smtp.SendMail(c.SMTPAddress(), nil, "ada@example.com", []string{box},
		[]byte("From: ada@example.com\r\nTo: "+box+"\r\nSubject: "+subject+"\r\n\r\nHello.\r\n"))
}

func (l *load) note(count *atomic.Int64, failed *[]string, wrong string) {
	count.Add(1)
	if wrong == "" {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	*failed = append(*failed, wrong)
}

// failures are the searches and the questions that got no answer.
func (l *load) failures() (posts, gets []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.failed), slices.Clone(l.failedGet)
}

// after waits until more of everything has been done.
func (l *load) after(n int64) {
	l.t.Helper()
	gets, posts, mails := l.gets.Load()+n, l.posts.Load()+n, l.mails.Load()+n/4
	kit.Eventually(l.t, 30*time.Second, "the load goes on", func() bool {
		return l.gets.Load() >= gets && l.posts.Load() >= posts && l.mails.Load() >= mails
	})
}

// stop ends the clients and expects every acknowledged mail in its mailbox.
func (l *load) stop() {
	l.t.Helper()
	close(l.done)
	l.clients.Wait()
	stored := readSubjects(l.t, l.cores[0], l.box)
	missing := 0
	for _, subject := range l.acknowledged {
		if !stored[subject] {
			missing++
		}
	}
	if missing > 0 {
		l.t.Errorf("%d of %d acknowledged mails are not there", missing, len(l.acknowledged))
	}
	l.t.Logf("%d questions, %d searches, %d mails", l.gets.Load(), l.posts.Load(), len(l.acknowledged))
}

// readSubjects returns the subjects of the messages of a mailbox.
func readSubjects(t *testing.T, c *kit.Core, box string) map[string]bool {
	t.Helper()
	subjects := map[string]bool{}
	for cursor := ""; ; {
		a := c.Send(t, kit.Request{Method: http.MethodGet, Path: "/mail/api/messages?limit=200&mailbox=" + box + cursor})
		if a.Status != http.StatusOK {
			t.Fatalf("list messages: %d %s", a.Status, a.Body)
		}
		page := kit.Decode[struct {
			Messages   []struct{ Subject string }
			NextCursor *string
		}](t, a.Body)
		for _, m := range page.Messages {
			subjects[m.Subject] = true
		}
		if page.NextCursor == nil {
			return subjects
		}
		cursor = "&cursor=" + url.QueryEscape(*page.NextCursor)
	}
}

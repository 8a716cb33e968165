package mail

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/emersion/go-smtp"
	"github.com/jackc/pgx/v5"

	"github.com/patchbay-dev/patchbay/plugins/internal/e2e/kit"
	"github.com/patchbay-dev/patchbay/plugins/internal/mta"
	"github.com/patchbay-dev/patchbay/plugins/internal/testkit"
)

const (
	// mailRounds is how often each server is measured, after a round that is not counted.
	mailRounds = 5
	// mailboxCount is how many mailboxes the messages of the connections go to.
	mailboxCount = 8
	// memoryMessages is how many messages the core has taken when its memory is read.
	memoryMessages = 100_000
)

// discard is the SMTP library alone: it reads messages and keeps nothing.
type discard struct{}

func (discard) Reset()                               {}
func (discard) Logout() error                        { return nil }
func (discard) Mail(string, *smtp.MailOptions) error { return nil }
func (discard) Rcpt(string, *smtp.RcptOptions) error { return nil }
func (discard) Data(r io.Reader) error               { _, err := io.Copy(io.Discard, r); return err }

func newDiscard(*smtp.Conn) (smtp.Session, error) { return discard{}, nil }

// appending is the SMTP library with the least that makes a message durable: its bytes are appended to a file of the connection, which is
// synced before the answer. No server that syncs is faster with one connection.
type appending struct {
	discard
	file *os.File
}

func (a appending) Data(r io.Reader) error {
	raw, err := io.ReadAll(r)
	if err != nil {
		return err
	}
	_, err = a.file.Write(raw)
	return errors.Join(err, syscall.Fdatasync(int(a.file.Fd())))
}

// Logout removes the file.
func (a appending) Logout() error { return errors.Join(a.file.Close(), os.Remove(a.file.Name())) }

func newAppending(dir string) smtp.BackendFunc {
	return func(*smtp.Conn) (smtp.Session, error) {
		file, err := os.CreateTemp(dir, "mail-*")
		return appending{file: file}, err
	}
}

// startLibrary runs the library with sessions and returns its address.
func startLibrary(b *testing.B, newSession smtp.BackendFunc) string {
	b.Helper()
	server := smtp.NewServer(newSession)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	kit.Must(b, err)
	go func() { _ = server.Serve(l) }()
	b.Cleanup(func() { _ = server.Close() })
	return l.Addr().String()
}

// mailTarget is a server that takes mail.
type mailTarget struct {
	name, address string
	// recipient returns the address that the messages of a connection go to.
	recipient func(connection int) string
	// settle waits until the server has done with the messages sent so far, of which the last has a number.
	settle func(messages, last int)
	// core is the process whose CPU time is read; nil for none.
	core *kit.Core
}

// measure sends messages on some connections and returns the messages per second, to the moment when all of them are durable and
// delivered, and the CPU time of the core for each.
func (t mailTarget) measure(b *testing.B, s *mailSource, connections, messages int) (rate, cpu float64) {
	b.Helper()
	used := t.cpuTime(b)
	began := time.Now()
	last := s.sendMany(b, t.address, t.recipient, connections, messages)
	t.settle(messages, last)
	return float64(messages) / time.Since(began).Seconds(), (t.cpuTime(b) - used).Seconds() * 1e6 / float64(messages)
}

// cpuTime returns the CPU time that the process has used.
func (t mailTarget) cpuTime(b *testing.B) time.Duration {
	b.Helper()
	if t.core == nil {
		return 0
	}
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", t.core.Cmd.Process.Pid))
	kit.Must(b, err)
	// The fields are counted from the end of the name, which may hold spaces; times are in hundredths of a second.
	fields := strings.Fields(string(raw[strings.LastIndexByte(string(raw), ')')+1:]))
	user, _ := strconv.Atoi(fields[11])
	system, _ := strconv.Atoi(fields[12])
	return time.Duration(user+system) * 10 * time.Millisecond
}

// coreTarget starts a core, to which messages go directly.
func coreTarget(b *testing.B, name string, s kit.Storage) (mailTarget, *mailCore) {
	b.Helper()
	m := startMailWith(b, s, "", `domains = ["inbox.test"]`, "member")
	for n := range mailboxCount {
		m.api(b, http.MethodPost, "mailboxes", fmt.Sprintf(`{"localPart":"box%d","subdomain":"desk","mailDomain":"inbox.test","expiresInMinutes":null}`, n), http.StatusCreated)
	}
	return mailTarget{
		name: name, address: m.SMTPAddress(), core: m.Core,
		recipient: func(connection int) string { return fmt.Sprintf("box%d@desk.inbox.test", connection%mailboxCount) },
		settle: func(_, last int) {
			found := m.api(b, http.MethodGet, fmt.Sprintf("messages?q=subject:benchmark%d", last), "", http.StatusOK)
			if n := len(found["messages"].([]any)); n != 1 {
				b.Fatalf("the last message is found %d times", n)
			}
		},
	}, m
}

// mailTargets starts all servers.
func mailTargets(b *testing.B) []mailTarget {
	b.Helper()
	anyone := func(int) string { return "inbox@patchbay.test" }
	postfix := mta.Start(b)
	sqlite, _ := coreTarget(b, "SQLite", kit.Storage{})
	all := []mailTarget{
		{name: "discard", address: startLibrary(b, newDiscard), recipient: anyone, settle: func(int, int) {}},
		{name: "append and sync", address: startLibrary(b, newAppending(b.TempDir())), recipient: anyone, settle: func(int, int) {}},
		{name: "Postfix", address: fmt.Sprintf("127.0.0.1:%d", postfix.Plain), recipient: anyone, settle: func(messages, _ int) {
			kit.Eventually(b, 2*time.Minute, "Postfix has delivered all messages", func() bool { return postfix.CountDelivered() >= messages })
			postfix.RemoveDelivered()
		}},
		sqlite,
	}
	if binary := os.Getenv(envMailpit); binary != "" {
		all = append(all, mailTarget{name: "Mailpit", address: startMailpit(b, binary), recipient: anyone, settle: func(int, int) {}})
	}
	if admin := os.Getenv(kit.EnvPostgres); admin != "" && syncsToDisk(b, admin) {
		name := kit.NewDatabase(b)
		t, _ := coreTarget(b, "PostgreSQL", kit.Storage{HCL: fmt.Sprintf("storage \"postgres\" {\n  url = %q\n}\n", name), Postgres: name})
		all = append(all, t)
	}
	return all
}

// envMailpit names the program Mailpit, beside which the core is measured where it is set.
const envMailpit = "PATCHBAY_TEST_MAILPIT"

// startMailpit runs Mailpit with a database on the disk and returns its SMTP address.
func startMailpit(b *testing.B, binary string) string {
	b.Helper()
	address := testkit.FreeAddress(b)
	cmd := exec.Command(binary, "--quiet", "--disable-version-check", "--max", "0", "--database", filepath.Join(b.TempDir(), "mailpit.db"),
		"--smtp", address, "--listen", testkit.FreeAddress(b))
	kit.Must(b, cmd.Start())
	b.Cleanup(func() { _, _ = cmd.Process.Kill(), cmd.Wait() })
	kit.Eventually(b, kit.StartWithin, "Mailpit takes mail in", func() bool {
		conn, err := net.Dial("tcp", address)
		if err == nil {
			_ = conn.Close()
		}
		return err == nil
	})
	return address
}

// syncsToDisk reports whether commits of a PostgreSQL server outlive a loss of power. Figures of one that does not say nothing.
func syncsToDisk(b *testing.B, url string) bool {
	b.Helper()
	conn, err := pgx.Connect(b.Context(), url)
	kit.Must(b, err)
	defer conn.Close(b.Context())
	var fsync, commit string
	kit.Must(b, conn.QueryRow(b.Context(), "SELECT current_setting('fsync'), current_setting('synchronous_commit')").Scan(&fsync, &commit))
	if fsync != "on" || commit == "off" {
		b.Log("PostgreSQL is left out: it runs without fsync or with asynchronous commits")
		return false
	}
	return true
}

// BenchmarkMail measures messages of 10 KB with two texts, on connections that stay open: the core, where 250 says that a message is
// durable and a search finds it, beside the SMTP library that discards them, the library that appends them to files, and Postfix that
// delivers them into a Maildir. Rounds are interleaved.
func BenchmarkMail(b *testing.B) {
	targets := mailTargets(b)
	source := &mailSource{raw: []byte(mailAlternative(10_000))}
	for _, load := range []struct{ connections, messages int }{{1, 500}, {8, 1500}, {64, 1500}} {
		connections, messages := load.connections, load.messages
		rates, cpus := map[string][]float64{}, map[string][]float64{}
		for round := range mailRounds + 1 {
			for i := range targets {
				t := targets[(i+round)%len(targets)]
				if rate, cpu := t.measure(b, source, connections, messages); round > 0 {
					rates[t.name], cpus[t.name] = append(rates[t.name], rate), append(cpus[t.name], cpu)
				}
			}
		}
		for _, t := range targets {
			fmt.Printf("%d connections, %s: %.0f/s, %.2f of discard, %.2f of Postfix, CPU %.0f µs\n", connections, t.name, median(rates[t.name]),
				median(rates[t.name])/median(rates["discard"]), median(rates[t.name])/median(rates["Postfix"]), median(cpus[t.name]))
			if all := rates["Mailpit"]; len(all) > 0 {
				fmt.Printf("\t%.2f of Mailpit\n", median(rates[t.name])/median(all))
			}
			b.ReportMetric(median(rates[t.name]), fmt.Sprintf("%s-%d/s", strings.ReplaceAll(t.name, " ", "-"), connections))
		}
	}
}

// BenchmarkMailMemory reads the core's memory after 100,000 messages.
func BenchmarkMailMemory(b *testing.B) {
	t, m := coreTarget(b, "SQLite", kit.Storage{})
	rate, cpu := t.measure(b, &mailSource{raw: []byte(mailAlternative(10_000))}, 8, memoryMessages)
	fmt.Printf("%d messages on 8 connections: %.0f/s, CPU %.0f µs; memory: %s\n", memoryMessages, rate, cpu, readMemory(b, m.Core))
}

// median returns the middle of some figures.
func median(all []float64) float64 {
	slices.Sort(all)
	return all[len(all)/2]
}

// readMemory returns the resident memory of the core, now and at its peak.
func readMemory(b *testing.B, c *kit.Core) string {
	b.Helper()
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", c.Cmd.Process.Pid))
	kit.Must(b, err)
	var out []string
	for line := range strings.Lines(string(raw)) {
		if strings.HasPrefix(line, "VmRSS:") || strings.HasPrefix(line, "VmHWM:") || strings.HasPrefix(line, "RssAnon:") {
			out = append(out, strings.Join(strings.Fields(line), " "))
		}
	}
	return strings.Join(out, ", ")
}

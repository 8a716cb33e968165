package mail

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"net/smtp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/hashicorp/go-hclog"

	"github.com/patchbay-dev/patchbay/core/auth"
	"github.com/patchbay-dev/patchbay/core/cluster"
	"github.com/patchbay-dev/patchbay/core/event"
	"github.com/patchbay-dev/patchbay/core/httpd"
	"github.com/patchbay-dev/patchbay/core/internal/testing/testkit"
	"github.com/patchbay-dev/patchbay/core/internal/testing/webtest"
	"github.com/patchbay-dev/patchbay/core/notify"
	"github.com/patchbay-dev/patchbay/core/secret"
	"github.com/patchbay-dev/patchbay/core/services/mail/mailbox"
	"github.com/patchbay-dev/patchbay/core/store"
	"github.com/patchbay-dev/patchbay/sdk/schema"
)

// inboundSecret signs messages in tests.
const inboundSecret = "a secret of a mail worker"

// receiver is a running service that takes mail in, with its API.
type receiver struct {
	// statements are those of the store.
	statements *testkit.StatementLog
	testing.TB
	store *store.Store
	svc   *Service
	base  string
	told  *toldAlerts
}

// toldAlerts keeps the notifications of new mail. With fail it refuses them.
type toldAlerts struct {
	mu   sync.Mutex
	all  []notify.Alert
	to   []string
	fail error
}

// Send implements Alerter.
func (a *toldAlerts) Send(_ context.Context, alert notify.Alert, channels []string) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.all, a.to = append(a.all, alert), channels
	return a.fail
}

// Locale implements Alerter.
func (*toldAlerts) Locale() string { return "en" }

// newReceiver starts a service with the domain inbox.test. It asks no DNS server that answers.
func newReceiver(t testing.TB, cfg store.Config, change ...func(*Settings)) *receiver {
	t.Helper()
	return startReceiver(t, testkit.OpenStore(t, cfg, auth.Migrations(), Migrations()), nil, change...)
}

// startReceiver starts the service of newReceiver on a database, as one of the nodes of a cluster; nil is none.
func startReceiver(t testing.TB, st *store.Store, nodes *cluster.Cluster, change ...func(*Settings)) *receiver {
	t.Helper()
	gin.SetMode(gin.ReleaseMode)
	r := &receiver{TB: t, told: &toldAlerts{}, store: st}
	r.statements = testkit.WatchStatements(t, r.store)
	ring, err := secret.NewKeyring(make([]byte, secret.KeySize))
	r.must(err)
	users, err := auth.New(auth.Config{Store: r.store, Keyring: ring, Scopes: []string{ServiceName}})
	r.must(err)
	set := Settings{
		BaseURL: "/mail", Domains: []string{"inbox.test"}, InboundSecret: schema.Secret(inboundSecret), Resolver: "127.0.0.1:1",
		SMTP: []SMTPSettings{{Listen: "127.0.0.1:0", Hostname: "mx.inbox.test", MaxSize: 4 << 20, MaxRecipients: 10, MaxConnections: 50,
			PerAddress: 50, Timeout: time.Minute}},
		Limits: LimitSettings{ParseBudget: 4},
	}
	for _, f := range change {
		f(&set)
	}
	bus := event.NewBus()
	t.Cleanup(bus.Close)
	r.svc, err = New(context.Background(), Config{Store: r.store, Keyring: ring, Users: users, Bus: bus, Cluster: nodes, Alerts: r.told, Settings: set,
		DataDir: t.TempDir(), ListenRetry: 20 * time.Millisecond, Logger: hclog.NewNullLogger()})
	r.must(err)
	t.Cleanup(r.svc.Close)
	r.must(r.svc.Start(context.Background()))
	mount, err := r.svc.MountAt("/mail")
	r.must(err)
	r.base = "http://" + webtest.Serve(t, httpd.Options{Guard: webtest.NamedUserGuard(auth.ViaSession)}, mount).Addr() + "/mail"
	return r
}

func (r *receiver) must(err error) {
	r.Helper()
	if err != nil {
		r.Fatal(err)
	}
}

// newMailbox makes a mailbox of a user and returns its id.
func (r *receiver) newMailbox(user, local string, tags ...string) string {
	r.Helper()
	box, err := r.svc.mailboxes.Create(context.Background(), mailbox.Caller{UserID: user, Via: mailbox.ViaWeb}, mailbox.NewMailbox{
		LocalPart: local, Subdomain: "desk", MailDomain: "inbox.test", Tags: tags,
	})
	r.must(err)
	return box.ID
}

// pageKey is the place of a message in the list, as cursors have it.
type pageKey struct {
	Seq int64 `json:"s"`
}

// reply is an answer of the API, read whole.
type reply struct {
	status int
	header http.Header
	body   string
	json   map[string]any
}

// call sends a request as a user such as "ada:member".
func (r *receiver) call(user, method, path, body string, header ...string) reply {
	r.Helper()
	resp, raw := webtest.SendJSON(r, method, r.base+path, body, append([]string{webtest.UserHeader, user}, header...)...)
	out := reply{status: resp.StatusCode, header: resp.Header, body: string(raw)}
	_ = json.Unmarshal(raw, &out.json)
	return out
}

// get is call with GET; it fails unless the status is 200.
func (r *receiver) get(user, path string) reply {
	r.Helper()
	out := r.call(user, http.MethodGet, path, "")
	if out.status != http.StatusOK {
		r.Fatalf("%s: %d %s", path, out.status, out.body)
	}
	return out
}

// list returns the members of a list answer.
func (g reply) list(name string) (all []map[string]any) {
	items, _ := g.json[name].([]any)
	for _, item := range items {
		all = append(all, item.(map[string]any))
	}
	return all
}

// deliver sends a message to local@desk.inbox.test by SMTP.
func (r *receiver) deliver(local, raw string) {
	r.Helper()
	r.must(r.trySend(local, raw))
}

func (r *receiver) trySend(local, raw string) error {
	raw = strings.ReplaceAll(strings.ReplaceAll(raw, "\r\n", "\n"), "\n", "\r\n")
	return smtp.SendMail(r.svc.SMTPAddresses()[0], nil, "bounce@example.com", []string{local + "@desk.inbox.test"}, []byte(raw))
}

// post sends a message to an address by a signed request.
func (r *receiver) post(to, body, secret string, header ...string) reply {
	r.Helper()
	timestamp, hash := strconv.FormatInt(time.Now().Unix(), 10), sha256.Sum256([]byte(body))
	const from = "bounce@example.com"
	content := hex.EncodeToString(hash[:])
	digest := hmac.New(sha256.New, []byte(secret))
	digest.Write([]byte(strings.Join([]string{timestamp, from, to, content}, "\n")))
	return r.call("", http.MethodPost, "/api/inbound", body,
		append(header, "Content-Type", "message/rfc822", "X-Patchbay-Timestamp", timestamp, "X-Patchbay-Content-SHA256", content,
			"X-Patchbay-Signature", hex.EncodeToString(digest.Sum(nil)), "X-Patchbay-Envelope-From", from, "X-Patchbay-Envelope-To", to)...)
}

// subjects returns the subjects of a list of messages, joined.
func (g reply) subjects() string {
	var b bytes.Buffer
	for _, m := range g.list("messages") {
		b.WriteString(m["subject"].(string) + ";")
	}
	return b.String()
}

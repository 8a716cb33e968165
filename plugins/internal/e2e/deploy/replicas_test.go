package deploy

import (
	"encoding/base64"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/smtp"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/patchbay-dev/patchbay/plugins/internal/dockertest"
	"github.com/patchbay-dev/patchbay/plugins/internal/e2e/kit"
	"github.com/patchbay-dev/patchbay/plugins/internal/testkit"
)

// streamModule is where Debian has the part of nginx that forwards connections; its own images contain it.
const streamModule = "/usr/lib/nginx/modules/ngx_stream_module.so"

// readReplicasFile returns a file of the example of three cores.
func readReplicasFile(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(kit.Root(), "examples/replicas", name))
	kit.Must(t, err)
	return string(text)
}

// replicas are three cores on one database, with the ports of the example on addresses of their own. Each has an upstream of its own,
// which tells what that core was asked.
type replicas struct {
	cores     []*kit.Core
	upstreams []*kit.Upstream
	hosts     []string
	// httpPort, smtpPort and adminPort are those of every core.
	httpPort, smtpPort, adminPort string
	token, mailbox                string
}

// startReplicas starts the cores. network is the beginning of the loopback addresses that they get.
func startReplicas(t *testing.T, network string) *replicas {
	t.Helper()
	database, key := kit.NewDatabase(t), kit.NewMasterKey()
	r := &replicas{httpPort: strconv.Itoa(testkit.FreePort(t)), smtpPort: strconv.Itoa(testkit.FreePort(t)),
		adminPort: strconv.Itoa(testkit.FreePort(t))}
	for i := range 3 {
		host := network + strconv.Itoa(i+1)
		r.hosts, r.upstreams = append(r.hosts, host), append(r.upstreams, kit.StartUpstream(t))
		c := kit.NewCore(t, "storage \"postgres\" {}\n"+kit.WebHCL(r.upstreams[i].URL, "", "")+strings.NewReplacer("listen = \"127.0.0.1:0\"",
			fmt.Sprintf("\n    listen = %q\n    proxy_protocol = [\"127.0.0.0/8\"]\n ", host+":"+r.smtpPort)).Replace(kit.MailHCL),
			"SVC_REPLICAS=true", "SVC_DATABASE_URL="+database, key,
			fmt.Sprintf("SVC_NODE_ID=core-%d", i+1), "SVC_HTTP_ADDR="+host+":"+r.httpPort, "SVC_ADMIN_ADDR="+host+":"+r.adminPort)
		c.Start()
		t.Cleanup(func() {
			c.Stop()
			if t.Failed() {
				t.Logf("log of core-%d:\n%s", i+1, kit.LastLines(c.Logs(), 40))
			}
		})
		r.cores = append(r.cores, c)
	}
	r.cores[0].AddKeys("key-one")
	r.token, r.mailbox = r.cores[0].Token(), r.cores[0].CLI("mailbox", "create")
	return r
}

// substitute returns a file of the example with the addresses of the test.
func (r *replicas) substitute(text string, more ...string) string {
	for i, host := range r.hosts {
		name := fmt.Sprintf("core-%d:", i+1)
		more = append(more, name+"50883", host+":"+r.httpPort, name+"2525", host+":"+r.smtpPort)
	}
	return strings.NewReplacer(more...).Replace(text)
}

// requests returns how many searches each core has passed on.
func (r *replicas) requests() (counts [3]int) {
	for i, up := range r.upstreams {
		counts[i] = len(up.Requests())
	}
	return counts
}

// ask sends a request through a proxy and returns the status, 0 without an answer.
func (r *replicas) ask(address, method, path, body string) int {
	req, err := http.NewRequest(method, "http://"+address+path, strings.NewReader(body))
	if err != nil {
		return 0
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Authorization", "Bearer "+r.token)
	resp, err := kit.HTTPClient.Do(req)
	if err != nil {
		return 0
	}
	defer resp.Body.Close()
	if _, err := io.Copy(io.Discard, resp.Body); err != nil {
		return 0
	}
	return resp.StatusCode
}

// search sends a search, which is a POST, through a proxy.
func (r *replicas) search(address string) int {
	return r.ask(address, http.MethodPost, "/search/api/proxy/search", `{"query":"plugins"}`)
}

// sendMail sends a message to a core as nginx does, with a header of the PROXY protocol.
func (r *replicas) sendMail(t *testing.T, core int, subject string) {
	t.Helper()
	conn, err := net.Dial("tcp", r.hosts[core]+":"+r.smtpPort)
	kit.Must(t, err)
	_, err = io.WriteString(conn, "PROXY TCP4 127.0.0.1 127.0.0.1 50000 2525\r\n")
	kit.Must(t, err)
	client, err := smtp.NewClient(conn, r.hosts[core])
	kit.Must(t, err)
	defer client.Close()
	kit.Must(t, client.Mail("shop@example.com"))
	kit.Must(t, client.Rcpt(r.mailbox))
	body, err := client.Data()
	kit.Must(t, err)
	_, err = body.Write(newMail(r.mailbox, subject))
	kit.Must(t, err)
	kit.Must(t, body.Close())
	kit.Must(t, client.Quit())
}

// TestReplicasBehindNginx runs the example's nginx.conf before three cores, with mail.
func TestReplicasBehindNginx(t *testing.T) {
	t.Parallel()
	binary, err := exec.LookPath("nginx")
	testkit.Require(t, "nginx", err == nil, "install nginx-light")
	_, err = os.Stat(streamModule)
	testkit.Require(t, "nginx stream", err == nil, "install libnginx-mod-stream")
	r := startReplicas(t, "127.80.1.")
	address, mail, dir := testkit.FreeAddress(t), testkit.FreeAddress(t), t.TempDir()
	temporary := "access_log off;\n"
	for _, kind := range []string{"client_body", "proxy", "fastcgi", "uwsgi", "scgi"} {
		temporary += fmt.Sprintf("%s_temp_path %s;\n", kind, filepath.Join(dir, kind))
	}
	conf := fmt.Sprintf("load_module %s;\ndaemon off;\nmaster_process off;\npid %s;\nerror_log stderr;\n", streamModule, filepath.Join(dir, "pid")) +
		r.substitute(readReplicasFile(t, "nginx.conf"), "http {\n", "http {\n"+temporary, "listen 50883;", "listen "+address+";",
			"listen 2525;", "listen "+mail+";")
	file := filepath.Join(dir, "nginx.conf")
	kit.Must(t, os.WriteFile(file, []byte(conf), 0o600))
	kit.StartProxy(t, http.DefaultClient, "http://"+address+"/system/api/meta", exec.Command(binary, "-c", file, "-p", dir, "-e", "stderr"))
	sendMail := func(subject string) {
		t.Helper()
		kit.Must(t, smtp.SendMail(mail, nil, "shop@example.com", []string{r.mailbox}, newMail(r.mailbox, subject)))
	}
	for i := range r.cores {
		sendMail(fmt.Sprintf("Mail %d", i+1))
	}
	checkReplicas(t, r, address, func() { sendMail("While a core is away") })
	for i, c := range r.cores {
		c.Base = "http://" + net.JoinHostPort(r.hosts[i], r.httpPort)
		kit.Contains(t, c.Send(t, kit.Request{Method: http.MethodGet, Path: "/mail/api/messages?mailbox=" + r.mailbox}).Body,
			"Mail 1", "Mail 2", "Mail 3", "While a core is away")
	}
}

// TestReplicasBehindCaddy runs the example's Caddyfile before three cores.
func TestReplicasBehindCaddy(t *testing.T) {
	t.Parallel()
	r := startReplicas(t, "127.80.2.")
	address := testkit.FreeAddress(t)
	kit.StartProxy(t, http.DefaultClient, "http://"+address+"/system/api/meta", kit.CaddyCommand(t, t.TempDir(), r.substitute(
		readReplicasFile(t, "Caddyfile"), "{$PATCHBAY_SITE}", "http://"+address, "health_port 50885", "health_port "+r.adminPort)))
	checkReplicas(t, r, address, func() {})
}

// checkReplicas expects that each core gets requests, and that streams show mail of all of them. Then it kills a core that works on a POST: nobody repeats that, every GET is
// answered, and so are later searches. The core gets requests again once it has started. while is called when one core is away.
func checkReplicas(t *testing.T, r *replicas, address string, while func()) {
	t.Helper()
	for range 6 {
		if status := r.search(address); status != http.StatusOK {
			t.Fatalf("search: status %d", status)
		}
	}
	for i := range r.cores {
		checkEventArrives(t, kit.HTTPClient, "http://"+address, fmt.Sprintf("Event of core-%d", i+1), func(subject string) { r.sendMail(t, i, subject) })
	}
	for i, count := range r.requests() {
		if count == 0 {
			t.Errorf("core-%d got none of six requests", i+1)
		}
	}
	for _, up := range r.upstreams {
		up.Reset()
		up.Script(kit.Scripted{Path: "/search", Times: 1, DelayMS: int(time.Hour / time.Millisecond)})
	}
	sent := make(chan int, 1)
	go func() { sent <- r.search(address) }()
	busy := -1
	kit.Eventually(t, 10*time.Second, "a core works on the request", func() bool {
		for i, count := range r.requests() {
			if count > 0 {
				busy = i
			}
		}
		return busy >= 0
	})
	r.cores[busy].Kill()
	for n := range 60 {
		if status := r.ask(address, http.MethodGet, "/search/api/proxy/usage", ""); status != http.StatusOK {
			t.Errorf("GET %d after the kill: status %d", n+1, status)
		}
	}
	if status := <-sent; status != http.StatusBadGateway {
		t.Errorf("a request at the killed core: status %d", status)
	}
	if counts := r.requests(); counts[0]+counts[1]+counts[2] != 1 {
		t.Errorf("the request was sent more than once: %v", counts)
	}
	for _, up := range r.upstreams {
		up.Reset()
	}
	for range 6 {
		if status := r.search(address); status != http.StatusOK {
			t.Errorf("search while a core is away: status %d", status)
		}
	}
	while()
	r.cores[busy].Start()
	kit.Eventually(t, 30*time.Second, "the core gets requests again", func() bool {
		if status := r.search(address); status != http.StatusOK {
			t.Fatalf("search after the start: status %d", status)
		}
		return r.requests()[busy] > 0
	})
}

// TestReplicasExample checks the compose files of three cores with compose, and plugin.hcl, also that of the Helm chart, with the core.
func TestReplicasExample(t *testing.T) {
	t.Parallel()
	newest := dockertest.NewestCompose(t)
	testkit.Require(t, "compose v2", newest.PullPolicy, dockertest.Compose2Hint)
	dir := filepath.Join(kit.Root(), "examples/replicas")
	key := base64.StdEncoding.EncodeToString(make([]byte, 32))
	compose := func(args ...string) string {
		t.Helper()
		cmd := exec.Command(newest.Path, args...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "SVC_SECRET_KEY="+key, "POSTGRES_PASSWORD=secret", "PATCHBAY_SITE=patchbay.example.com")
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("compose %v: %v\n%s", args, err, out)
		}
		return string(out)
	}
	if out := compose("-f", "compose.yaml", "-f", "caddy.yaml", "config", "--services"); len(strings.Fields(out)) != 6 {
		t.Errorf("services: %s", out)
	}
	services := kit.Decode[struct {
		Services map[string]struct {
			Environment     map[string]string
			StopGracePeriod string `json:"stop_grace_period"`
			Volumes         []struct {
				Target   string
				ReadOnly bool `json:"read_only"`
			}
		}
	}](t, compose("-f", "compose.yaml", "config", "--format", "json")).Services
	for i := range 3 {
		s := services[fmt.Sprintf("core-%d", i+1)]
		if s.Environment["SVC_NODE_ID"] != fmt.Sprintf("core-%d", i+1) || s.Environment["SVC_SECRET_KEY"] != key || s.StopGracePeriod != "1m10s" ||
			len(s.Volumes) != 2 || s.Volumes[1].Target != "/etc/patchbay" || !s.Volumes[1].ReadOnly {
			t.Errorf("core-%d: %+v", i+1, s)
		}
	}
	var chart struct{ Config string }
	kit.Must(t, yaml.Unmarshal([]byte(readReplicasFile(t, "helm/values.yaml")), &chart))
	for name, hcl := range map[string]string{"config/plugin.hcl": readReplicasFile(t, "config/plugin.hcl"), "helm/values.yaml": chart.Config} {
		c := kit.NewCore(t, hcl, "SVC_REPLICAS=true", "SVC_SECRET_KEY="+key,
			"SVC_DATABASE_URL=postgres://patchbay:secret@postgres:5432/patchbay?sslmode=disable")
		if out := c.Run("", "config", "check"); out.Status != 0 || out.Stderr != "" {
			t.Errorf("%s: config check: status %d: %s%s", name, out.Status, out.Stdout, out.Stderr)
		}
	}
}

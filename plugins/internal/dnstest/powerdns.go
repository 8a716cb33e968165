package dnstest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/patchbay-dev/patchbay/plugins/internal/testkit"
)

// PowerDNS is a running PowerDNS with an SQLite database of its own.
type PowerDNS struct {
	// Addr answers DNS, URL the HTTP API for Key.
	Addr, URL, Key string
}

// schemaFile is the schema that Debian's package brings.
const schemaFile = "/usr/share/pdns-backend-sqlite3/schema/schema.sqlite3.sql"

// StartPowerDNS runs PowerDNS until the test ends, with native zones of these names.
func StartPowerDNS(t testing.TB, zones ...string) *PowerDNS {
	t.Helper()
	program := findProgram(t, "pdns_server", "pdns-server")
	schema, err := os.ReadFile(schemaFile)
	if err != nil {
		findProgram(t, "the SQLite backend of PowerDNS", "pdns-backend-sqlite3")
	}
	dir := t.TempDir()
	file := filepath.Join(dir, "pdns.sqlite3")
	create := exec.Command(findProgram(t, "sqlite3", "sqlite3"), file)
	create.Stdin = bytes.NewReader(schema)
	if out, err := create.CombinedOutput(); err != nil {
		t.Fatalf("make the database: %v: %s", err, out)
	}
	port, web := strconv.Itoa(testkit.FreePort(t)), strconv.Itoa(testkit.FreePort(t))
	s := &PowerDNS{Addr: "127.0.0.1:" + port, URL: "http://127.0.0.1:" + web, Key: "key-of-the-test-7d1f"}
	startServer(t, s.Addr, "example.com", exec.Command(program,
		"--config-dir="+dir, "--socket-dir="+dir, "--daemon=no", "--guardian=no", "--disable-syslog", "--setuid=", "--setgid=", "--chroot=",
		"--local-address=127.0.0.1", "--local-port="+port, "--receiver-threads=1", "--distributor-threads=1",
		"--launch=gsqlite3", "--gsqlite3-database="+file, "--zone-cache-refresh-interval=0",
		"--api=yes", "--api-key="+s.Key, "--webserver=yes", "--webserver-address=127.0.0.1", "--webserver-port="+web))
	for _, z := range zones {
		s.AddZone(t, z)
	}
	return s
}

// AddZone adds a native zone with one name server.
func (s *PowerDNS) AddZone(t testing.TB, name string) {
	t.Helper()
	body, err := json.Marshal(map[string]any{"name": name + ".", "kind": "Native", "nameservers": []string{"ns1." + name + "."}})
	if err != nil {
		t.Fatal(err)
	}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.URL+"/api/v1/servers/localhost/zones", bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("X-API-Key", s.Key)
	res, err := http.DefaultClient.Do(req)
	if err == nil {
		defer res.Body.Close()
		if res.StatusCode != http.StatusCreated {
			err = fmt.Errorf("status %d", res.StatusCode)
		}
	}
	if err != nil {
		t.Fatalf("add the zone %s: %v", name, err)
	}
}

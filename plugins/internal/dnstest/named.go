package dnstest

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/patchbay-dev/patchbay/plugins/internal/testkit"
)

// The TSIG key of Named.
const (
	KeyName   = "patchbay-test"
	KeySecret = "c2VjcmV0LW9mLXRoZS10ZXN0cy0xMjM0NTY3ODkwMTI="
)

// Named is a running BIND. Its zones may be updated and transferred with the key hmac-sha256 KeyName, and no other.
type Named struct {
	// Addr answers DNS.
	Addr string
}

// StartNamed runs BIND until the test ends. Of these zones, one that begins with "!" may not be transferred.
func StartNamed(t testing.TB, zones ...string) *Named {
	t.Helper()
	program := findProgram(t, "named", "bind9")
	dir, port := t.TempDir(), strconv.Itoa(testkit.FreePort(t))
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var conf strings.Builder
	fmt.Fprintf(&conf, `key %q { algorithm hmac-sha256; secret %q; };
options {
	directory %q; pid-file none; session-keyfile none; lock-file none; managed-keys-directory %q;
	listen-on port %s { 127.0.0.1; }; listen-on-v6 { none; }; recursion no; dnssec-validation no; notify no; minimal-responses no;
};
controls { };
`, KeyName, KeySecret, dir, dir, port)
	for _, zone := range zones {
		name, hidden := strings.CutPrefix(zone, "!")
		transfer := "key " + KeyName + ";"
		if hidden {
			transfer = "none;"
		}
		write(name+".zone", "$TTL 300\n@ SOA ns1 hostmaster 1 3600 600 86400 60\n@ NS ns1\nns1 A 127.0.0.1\n")
		fmt.Fprintf(&conf, "zone %q { type primary; file %q; allow-update { key %s; }; allow-transfer { %s }; check-integrity yes; };\n", name,
			name+".zone", KeyName, transfer)
	}
	write("named.conf", conf.String())
	s := &Named{Addr: "127.0.0.1:" + port}
	startServer(t, s.Addr, strings.TrimPrefix(zones[0], "!"),
		exec.Command(program, "-f", "-g", "-n", "1", "-c", filepath.Join(dir, "named.conf")))
	return s
}

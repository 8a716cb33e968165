package main

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// bench holds the processes that are measured.
type bench struct {
	options
	dir      string
	upstream helper
	baseline helper
	children []*exec.Cmd
}

// helper is a process of this program in a role, with the address that it listens on.
type helper struct {
	process
	addr string
}

func newBench(o options) (*bench, error) {
	dir, err := os.MkdirTemp("", "bench-")
	if err != nil {
		return nil, err
	}
	b := &bench{options: o, dir: dir}
	if b.upstream, err = b.child("upstream"); err == nil {
		b.baseline, err = b.child("baseline", b.upstream.addr)
	}
	if err != nil {
		b.close()
		return nil, err
	}
	return b, nil
}

func (b *bench) close() {
	for _, c := range b.children {
		_ = c.Process.Kill()
		_ = c.Wait()
	}
	_ = os.RemoveAll(b.dir)
}

// child starts this program in a role.
func (b *bench) child(args ...string) (helper, error) {
	self, err := os.Executable()
	if err != nil {
		return helper{}, err
	}
	cmd := exec.Command(self, append([]string{"role"}, args...)...)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return helper{}, err
	}
	if err := cmd.Start(); err != nil {
		return helper{}, err
	}
	b.children = append(b.children, cmd)
	line, err := bufio.NewReader(out).ReadString('\n')
	return helper{process: process{args[0], cmd.Process.Pid}, addr: strings.TrimSpace(line)}, err
}

// core is a running core with a token and a key.
type core struct {
	cmd   *exec.Cmd
	base  string
	admin string
	token string
}

// masterKey is the master key of all cores.
const masterKey = "MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE="

const configuration = `core {
  data_dir  = "data"
  log_level = "error"
}
search "tavily" "upstream" {
  config { base_url = "%s" }
}
service "search" {
  backend = search.upstream
  no_audit = %v
  limits {
    requests_hour = 1000000000
    credits_hour  = 1000000000
    credits_day   = 1000000000
    credits_month = 1000000000
  }
}
`

// startCore runs a core on the benchmark's upstream.
func (b *bench) startCore(name string, audit bool) (*core, error) {
	return b.startCoreOn(name, audit, "")
}

// startCoreOn is startCore with a block of plugin.hcl that says where the records are, and variables of the environment.
func (b *bench) startCoreOn(name string, audit bool, storage string, variables ...string) (*core, error) {
	dir := filepath.Join(b.dir, name)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	config := filepath.Join(dir, "plugin.hcl")
	if err := os.WriteFile(config, fmt.Appendf(nil, configuration+storage, b.upstream.addr, !audit), 0o644); err != nil {
		return nil, err
	}
	addr, admin := freeAddr(), freeAddr()
	env := append(append(os.Environ(), variables...), "SVC_HTTP_ADDR="+addr, "SVC_ADMIN_ADDR="+admin, "SVC_SECRET_KEY="+masterKey)
	key := exec.Command(filepath.Join(b.bin, "patchbay"), "key", "add", "-config", config)
	key.Env, key.Stdin, key.Stderr = env, strings.NewReader("tvly-benchmark-key\n"), os.Stderr
	if err := key.Run(); err != nil {
		return nil, fmt.Errorf("add a key: %w", err)
	}
	token := exec.Command(filepath.Join(b.bin, "patchbay"), "token", "create", "-config", config)
	token.Env, token.Stderr = env, os.Stderr
	text, err := token.Output()
	if err != nil {
		return nil, fmt.Errorf("make a token: %w", err)
	}
	c := &core{base: "http://" + addr, admin: "http://" + admin, token: strings.TrimSpace(string(text))}
	c.cmd = exec.Command(filepath.Join(b.bin, "patchbay"), "serve", "-config", config)
	c.cmd.Env, c.cmd.Stderr = env, os.Stderr
	if err := c.cmd.Start(); err != nil {
		return nil, err
	}
	b.children = append(b.children, c.cmd)
	return c, c.ready()
}

func (c *core) ready() error {
	var err error
	for range 400 {
		var resp *http.Response
		if resp, err = http.Get(c.admin + "/readyz"); err == nil {
			_, _ = io.Copy(io.Discard, resp.Body)
			_ = resp.Body.Close()
			if resp.StatusCode == http.StatusOK {
				return nil
			}
		}
		time.Sleep(25 * time.Millisecond)
	}
	return fmt.Errorf("the core does not become ready: %w", err)
}

func freeAddr() string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "127.0.0.1:0"
	}
	defer l.Close()
	return l.Addr().String()
}

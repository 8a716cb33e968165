package dockerauth_test

import (
	"context"
	"encoding/base64"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/patchbay-dev/patchbay/plugins/internal/dockerauth"
)

func write(t *testing.T, path, content string) string {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func basic(user, password string) string {
	return base64.StdEncoding.EncodeToString([]byte(user + ":" + password))
}

func TestGet(t *testing.T) {
	path := write(t, filepath.Join(t.TempDir(), "config.json"), `{"auths":{
		"https://index.docker.io/v1/":{"auth":"`+basic("hub", "p:1")+`"},
		"https://scheme.example/v2/":{"auth":"`+basic("scheme", "p2")+`"},
		"plain.example":{"auth":"`+basic("plain", "p3")+`"},
		"localhost:5000":{"auth":"`+basic("local", "p4")+`"},
		"token.example":{"auth":"`+basic("x", "y")+`","identitytoken":"id-1"},
		"empty.example":{}}}`)
	for _, p := range []string{path, filepath.Dir(path)} {
		c, err := dockerauth.Load(p)
		if err != nil {
			t.Fatal(err)
		}
		for host, want := range map[string][3]string{
			"docker.io": {"hub", "p:1", ""}, "index.docker.io": {"hub", "p:1", ""}, "registry-1.docker.io": {"hub", "p:1", ""},
			"scheme.example": {"scheme", "p2", ""}, "plain.example": {"plain", "p3", ""}, "PLAIN.example": {"plain", "p3", ""},
			"localhost:5000": {"local", "p4", ""}, "localhost:5001": {}, "token.example": {"", "", "id-1"}, "empty.example": {}, "other.example": {},
		} {
			user, password, token, err := c.Get(t.Context(), host)
			if got := [3]string{user, password, token}; err != nil || got != want {
				t.Errorf("%s: got %q, %v, want %q", host, got, err, want)
			}
			if c.Has(t.Context(), host) != (want != [3]string{}) {
				t.Errorf("Has(%s) is wrong", host)
			}
		}
	}
}

func TestLoadErrors(t *testing.T) {
	dir := t.TempDir()
	const secret = "s3cret-text"
	for name, tt := range map[string]struct {
		path string
		is   error
	}{
		"missing":      {filepath.Join(dir, "none", "config.json"), fs.ErrNotExist},
		"empty folder": {t.TempDir(), fs.ErrNotExist},
		"no JSON":      {write(t, filepath.Join(dir, "a", "config.json"), secret), nil},
		"bad auth":     {write(t, filepath.Join(dir, "b", "config.json"), `{"auths":{"x":{"auth":"`+secret+`"}}}`), nil},
		"no colon": {write(t, filepath.Join(dir, "c", "config.json"),
			`{"auths":{"x":{"auth":"`+base64.StdEncoding.EncodeToString([]byte(secret))+`"}}}`), nil},
		"wrong type": {write(t, filepath.Join(dir, "d", "config.json"), `{"auths":["`+secret+`"]}`), nil},
		"too large":  {write(t, filepath.Join(dir, "e", "config.json"), `{"x":"`+strings.Repeat("x", 5<<20)+`"}`), nil},
	} {
		_, err := dockerauth.Load(tt.path)
		if err == nil || strings.Contains(err.Error(), secret) || tt.is != nil && !errors.Is(err, tt.is) {
			t.Errorf("%s: %v", name, err)
		}
	}
	c, err := dockerauth.Load("")
	if err != nil || c.Has(t.Context(), "example.com") || c.Changed() {
		t.Errorf("the anonymous configuration: %v", err)
	}
}

// helper puts a program into the path that answers as credential helpers do.
func helper(t *testing.T, script string) {
	t.Helper()
	dir := t.TempDir()
	path := write(t, filepath.Join(dir, "docker-credential-test"), "#!/bin/sh\nread -r host\n"+script)
	if err := os.Chmod(path, 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
}

func TestHelpers(t *testing.T) {
	helper(t, `case "$host" in
one.example) echo '{"ServerURL":"one.example","Username":"one","Secret":"p1"}';;
https://index.docker.io/v1/) echo '{"Username":"<token>","Secret":"id-2"}';;
broken.example) echo 's3cret-text'; exit 0;;
failing.example) echo 's3cret-text'; exit 1;;
slow.example) sleep 60;;
*) echo 'credentials not found in native keychain'; exit 1;;
esac`)
	for name, block := range map[string]string{
		"store":   `{"credsStore":"test","auths":{"one.example":{}}}`,
		"helpers": `{"credHelpers":{"one.example":"test","https://docker.io":"test","broken.example":"test","failing.example":"test","none.example":"test","slow.example":"test"}}`,
	} {
		c, err := dockerauth.Load(write(t, filepath.Join(t.TempDir(), "config.json"), block))
		if err != nil {
			t.Fatal(err)
		}
		for host, want := range map[string][3]string{"one.example": {"one", "p1", ""}, "docker.io": {"", "", "id-2"}, "none.example": {}} {
			user, password, token, err := c.Get(t.Context(), host)
			if got := [3]string{user, password, token}; err != nil || got != want {
				t.Errorf("%s, %s: got %q, %v, want %q", name, host, got, err, want)
			}
		}
		for _, host := range []string{"broken.example", "failing.example"} {
			if _, _, _, err := c.Get(t.Context(), host); err == nil || strings.Contains(err.Error(), "s3cret") {
				t.Errorf("%s, %s: %v", name, host, err)
			}
		}
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		began := time.Now()
		if _, _, _, err := c.Get(ctx, "slow.example"); !errors.Is(err, context.DeadlineExceeded) || time.Since(began) > 5*time.Second {
			t.Errorf("%s, slow: %v after %s", name, err, time.Since(began))
		}
		cancel()
	}
	for _, block := range []string{`{"credsStore":"../evil"}`, `{"credsStore":"not-installed"}`} {
		c, err := dockerauth.Load(write(t, filepath.Join(t.TempDir(), "config.json"), block))
		if err != nil {
			t.Fatal(err)
		}
		if _, _, _, err := c.Get(t.Context(), "one.example"); err == nil || c.Has(t.Context(), "one.example") {
			t.Errorf("%s: %v", block, err)
		}
	}
}

func TestStage(t *testing.T) {
	dir := t.TempDir()
	const content = `{"auths":{},"currentContext":"far"}`
	file := write(t, filepath.Join(dir, "config.json"), content)
	write(t, filepath.Join(dir, "contexts", "meta", "abc", "meta.json"), `{"Name":"far"}`)
	if err := os.Symlink("/etc/hostname", filepath.Join(dir, "contexts", "link")); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{file, dir} {
		c, err := dockerauth.Load(path)
		if err != nil {
			t.Fatal(err)
		}
		staged, cleanup, err := c.Stage()
		if err != nil {
			t.Fatal(err)
		}
		for name, want := range map[string]string{"config.json": content, "contexts/meta/abc/meta.json": `{"Name":"far"}`} {
			raw, err := os.ReadFile(filepath.Join(staged, name))
			if err != nil || string(raw) != want {
				t.Errorf("%s: %q, %v", name, raw, err)
			}
		}
		if _, err := os.Lstat(filepath.Join(staged, "contexts", "link")); err == nil {
			t.Error("a link was copied")
		}
		if info, err := os.Stat(staged); err != nil || info.Mode().Perm() != 0o700 {
			t.Errorf("%v, %v", info.Mode(), err)
		}
		cleanup()
		cleanup()
		if _, err := os.Stat(staged); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("the directory is still there: %v", err)
		}
	}
	c, _ := dockerauth.Load("")
	staged, cleanup, err := c.Stage()
	if err != nil {
		t.Fatal(err)
	}
	defer cleanup()
	if raw, err := os.ReadFile(filepath.Join(staged, "config.json")); err != nil || string(raw) != "{}" {
		t.Errorf("anonymous: %q, %v", raw, err)
	}
}

func TestChanged(t *testing.T) {
	file := write(t, filepath.Join(t.TempDir(), "config.json"), `{}`)
	c, err := dockerauth.Load(file)
	if err != nil || c.Changed() {
		t.Fatalf("%v", err)
	}
	write(t, file, `{"auths":{}}`)
	if !c.Changed() {
		t.Error("a change is not seen")
	}
}

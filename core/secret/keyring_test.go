package secret_test

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"github.com/patchbay-dev/patchbay/core/secret"
)

func raw(b byte) []byte { return bytes.Repeat([]byte{b}, secret.KeySize) }

func ring(t *testing.T, keys ...byte) *secret.Keyring {
	t.Helper()
	all := make([][]byte, len(keys))
	for i, k := range keys {
		all[i] = raw(k)
	}
	r, err := secret.NewKeyring(all...)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestSealOpen(t *testing.T) {
	k := ring(t, 1)
	rapid.Check(t, func(t *rapid.T) {
		plain := rapid.SliceOf(rapid.Byte()).Draw(t, "plain")
		row := rapid.String().Draw(t, "row")
		sealed := k.Seal(plain, "keys", row, "secret")
		got, err := k.Open(sealed, "keys", row, "secret")
		if err != nil || !bytes.Equal(got, plain) {
			t.Fatalf("%v %q", err, got)
		}
	})
}

func TestOpenRefuses(t *testing.T) {
	k := ring(t, 1)
	sealed := k.Seal([]byte("plain-text-value"), "t", "r", "c")
	box := []byte(sealed)
	box[len(box)-3] ^= 1
	tests := map[string][4]string{
		"other table":   {sealed, "x", "r", "c"},
		"other row":     {sealed, "t", "x", "c"},
		"other column":  {sealed, "t", "r", "x"},
		"moved borders": {sealed, "tr", "", "c"},
		"changed":       {string(box), "t", "r", "c"},
		"cut":           {sealed[:len("v1:12345678:")+4], "t", "r", "c"},
		"empty":         {"", "t", "r", "c"},
		"plain text":    {"plain-text-value", "t", "r", "c"},
		"version":       {"v2" + sealed[2:], "t", "r", "c"},
		"bad key id":    {"v1:plain:AAAA", "t", "r", "c"},
		"other key":     {ring(t, 2).Seal([]byte("plain-text-value"), "t", "r", "c"), "t", "r", "c"},
	}
	for name, in := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := k.Open(in[0], in[1], in[2], in[3])
			if !errors.Is(err, secret.ErrSealed) || strings.Contains(err.Error(), "plain-text") {
				t.Fatalf("got %v", err)
			}
		})
	}
}

func TestRotation(t *testing.T) {
	old, both, next := ring(t, 1), ring(t, 2, 1), ring(t, 2)
	sealed := old.Seal([]byte("x"), "t", "r", "c")
	if got, err := both.Open(sealed, "t", "r", "c"); err != nil || string(got) != "x" {
		t.Fatal(err)
	}
	if both.Current(sealed) || !both.Current(both.Seal(nil, "t", "r", "c")) || both.Current("junk") {
		t.Error("Current is wrong")
	}
	if _, err := next.Open(sealed, "t", "r", "c"); err == nil || !strings.Contains(err.Error(), old.KeyID()) {
		t.Errorf("the missing key must be named: %v", err)
	}
}

func TestKeyringPrintsNoKey(t *testing.T) {
	k := ring(t, 'K')
	for _, format := range []string{"%v", "%+v", "%#v", "%s"} {
		if got := fmt.Sprintf(format, k); !strings.Contains(got, k.KeyID()) || strings.Contains(got, "KKKK") || strings.Contains(got, "75, 75") {
			t.Errorf("%s: %s", format, got)
		}
	}
}

func TestLoadFromEnv(t *testing.T) {
	one, two := base64.StdEncoding.EncodeToString(raw(0xfb)), base64.RawURLEncoding.EncodeToString(raw(0xfc))
	k, err := secret.LoadKeyring(secret.Options{Env: " " + one + " ,\n" + two, Path: "/nonexistent/dir/key"})
	if err != nil {
		t.Fatal(err)
	}
	if want := ring(t, 0xfb, 0xfc).String(); k.String() != want {
		t.Errorf("%v, want %v", k, want)
	}
	for name, env := range map[string]string{"short": "c2hvcnQtc2VjcmV0", "not base64": "se!cret", "second": one + ",c2hvcnQ",
		"commas": ",,"} {
		_, err := secret.LoadKeyring(secret.Options{Env: env})
		if err == nil || !strings.Contains(err.Error(), "SVC_SECRET_KEY") || strings.Contains(err.Error(), "c2hvcn") ||
			strings.Contains(err.Error(), "se!cret") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := secret.LoadKeyring(secret.Options{}); err == nil {
		t.Error("no source must be refused")
	}
}

func TestLoadMakesTheFileOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "sub", "master.key")
	rings := make([]string, 8)
	var wg sync.WaitGroup
	for i := range rings {
		wg.Go(func() {
			k, err := secret.LoadKeyring(secret.Options{Path: path})
			if err != nil {
				t.Error(err)
				return
			}
			rings[i] = k.String()
		})
	}
	wg.Wait()
	for _, r := range rings {
		if r != rings[0] {
			t.Fatalf("different keys: %v", rings)
		}
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Fatalf("%v %v", info, err)
	}
	if left, _ := os.ReadDir(filepath.Dir(path)); len(left) != 1 {
		t.Errorf("left behind: %v", left)
	}
}

func TestLoadRefusesBadFiles(t *testing.T) {
	good := base64.StdEncoding.EncodeToString(raw(1))
	tests := []struct {
		name, text string
		mode       os.FileMode
		want       string
	}{
		{"world readable", good, 0o644, "chmod 600"},
		{"group readable", good, 0o640, "chmod 600"},
		{"empty", "\n", 0o600, "is empty"},
		{"short", "c2hvcnQtc2VjcmV0", 0o600, "12 bytes"},
		{"not base64", "$ecret", 0o600, "not base64"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "master.key")
			if err := os.WriteFile(path, []byte(tt.text), tt.mode); err != nil {
				t.Fatal(err)
			}
			if err := os.Chmod(path, tt.mode); err != nil {
				t.Fatal(err)
			}
			_, err := secret.LoadKeyring(secret.Options{Path: path})
			if err == nil || !strings.Contains(err.Error(), tt.want) || !strings.Contains(err.Error(), path) {
				t.Fatalf("got %v", err)
			}
			if text := strings.TrimSpace(tt.text); text != "" && strings.Contains(err.Error(), text) {
				t.Errorf("the error shows the content: %v", err)
			}
		})
	}
	if _, err := secret.LoadKeyring(secret.Options{Path: t.TempDir()}); err == nil {
		t.Error("a directory must be refused")
	}
}

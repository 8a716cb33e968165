package sums

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"aead.dev/minisign"
)

// TestWrite signs the checksums of a directory with a key that is encrypted and with one that is not, also when another file has come.
func TestWrite(t *testing.T) {
	public, private, err := minisign.GenerateKey(nil)
	must(t, err)
	open, err := private.MarshalText()
	must(t, err)
	sealed, err := minisign.EncryptKey("a password", private)
	must(t, err)
	for name, text := range map[string][]byte{"open": open, "sealed": sealed} {
		t.Run(name, func(t *testing.T) {
			file, dir := filepath.Join(t.TempDir(), "key"), t.TempDir()
			must(t, os.WriteFile(file, text, 0o600))
			t.Setenv("MINISIGN_KEY", file)
			t.Setenv("MINISIGN_PASSWORD", "a password")
			key, err := ReadKey(false)
			must(t, err)
			for n, artefact := range []string{"a.tar.gz", "b.oci.tar"} {
				must(t, os.WriteFile(filepath.Join(dir, artefact), []byte("content"), 0o600))
				must(t, Write(dir, "1.0.0", key))
				sums, err := os.ReadFile(filepath.Join(dir, "SHA256SUMS"))
				must(t, err)
				signature, err := os.ReadFile(filepath.Join(dir, "SHA256SUMS.minisig"))
				must(t, err)
				if !minisign.Verify(public, sums, signature) || strings.Count(string(sums), "\n") != n+1 ||
					!strings.Contains(string(sums), artefact+"\n") {
					t.Errorf("with %s the checksums are\n%s%s", artefact, sums, signature)
				}
			}
			must(t, Write(dir, "1.0.0", nil))
			if _, err := os.Stat(filepath.Join(dir, "SHA256SUMS.minisig")); !os.IsNotExist(err) {
				t.Errorf("checksums without a key have a signature: %v", err)
			}
		})
	}
}

// TestReadKey: no key is an error unless none is wanted.
func TestReadKey(t *testing.T) {
	t.Setenv("MINISIGN_KEY", "")
	if key, err := ReadKey(true); key != nil || err != nil {
		t.Errorf("unsigned: %v, %v", key, err)
	}
	if _, err := ReadKey(false); err == nil || !strings.Contains(err.Error(), "MINISIGN_KEY") {
		t.Errorf("without a key: %v", err)
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

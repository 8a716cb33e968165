package secret

import (
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/patchbay-dev/patchbay/core/privatedir"
)

// maxKeyFile bounds what is read of a key file, in bytes.
const maxKeyFile = 16 << 10

// Options say where the master keys come from.
type Options struct {
	// Env is the value of SVC_SECRET_KEY: keys in base64, separated by commas; the first seals. It wins over Path.
	Env string
	// Path is the key file, in the same format; lines separate as commas do. It is made, with one random key and mode
	// 0600, when it does not exist.
	Path string
}

// LoadKeyring reads the master keys, or makes the first one. Errors name the variable or file and what to do; they show
// nothing of the content.
func LoadKeyring(opts Options) (*Keyring, error) {
	ring, err := ReadKeyring(opts)
	if !errors.Is(err, fs.ErrNotExist) {
		return ring, err
	}
	if err := createKeyFile(opts.Path); err != nil {
		return nil, err
	}
	return ReadKeyring(opts)
}

// ReadKeyring is LoadKeyring without making anything: a key file that does not exist is fs.ErrNotExist.
func ReadKeyring(opts Options) (*Keyring, error) {
	if strings.TrimSpace(opts.Env) != "" {
		return parseKeys(opts.Env, "SVC_SECRET_KEY")
	}
	if opts.Path == "" {
		return nil, errors.New("load the master key: neither SVC_SECRET_KEY nor a key file is set")
	}
	text, err := readKeyFile(opts.Path)
	if err != nil {
		return nil, err
	}
	return parseKeys(text, "the key file "+opts.Path)
}

func parseKeys(text, source string) (*Keyring, error) {
	var raw [][]byte
	for i, part := range strings.FieldsFunc(text, func(r rune) bool { return r == ',' || r == '\n' || r == '\r' || r == ' ' || r == '\t' }) {
		b, err := decodeKey(part)
		if err != nil {
			return nil, fmt.Errorf("load the master key: key %d in %s %w; make one with: openssl rand -base64 32", i+1, source, err)
		}
		raw = append(raw, b)
	}
	if len(raw) == 0 {
		return nil, fmt.Errorf("load the master key: %s is empty; restore it, or remove it if nothing was sealed with it", source)
	}
	return NewKeyring(raw...)
}

// decodeKey takes both alphabets, with and without padding.
func decodeKey(s string) ([]byte, error) {
	s = strings.NewReplacer("-", "+", "_", "/").Replace(strings.TrimRight(s, "="))
	b, err := base64.RawStdEncoding.DecodeString(s)
	if err != nil {
		return nil, errors.New("is not base64")
	}
	if len(b) != KeySize {
		return nil, fmt.Errorf("has %d bytes, want %d", len(b), KeySize)
	}
	return b, nil
}

func readKeyFile(path string) (string, error) {
	file, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	if err != nil {
		return "", fmt.Errorf("load the master key: %w; %s", err,
			privatedir.OwnerRemedy(path, "make the file readable for the user that runs patchbay"))
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return "", fmt.Errorf("load the master key: %w", err)
	}
	if !info.Mode().IsRegular() {
		return "", fmt.Errorf("load the master key: %s is not a regular file", path)
	}
	if mode := info.Mode().Perm(); mode&0o077 != 0 {
		return "", fmt.Errorf("load the master key: %s has mode %04o and others may read it; run: chmod 600 %s", path, mode, path)
	}
	text, err := io.ReadAll(io.LimitReader(file, maxKeyFile))
	if err != nil {
		return "", fmt.Errorf("load the master key: %w", err)
	}
	return string(text), nil
}

// createKeyFile writes a new key aside and links it into place, so that of two processes one wins and neither sees half
// a file.
func createKeyFile(path string) error {
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("make the directory of the master key: %w", err)
	}
	tmp, err := os.CreateTemp(dir, ".patchbay-key-*") // mode 0600
	if err != nil {
		return fmt.Errorf("make the master key: %w; %s", err,
			privatedir.OwnerRemedy(dir, "make the directory writable for the user that runs patchbay"))
	}
	defer os.Remove(tmp.Name())
	raw := make([]byte, KeySize)
	_, _ = rand.Read(raw) // never fails
	_, err = tmp.WriteString(base64.StdEncoding.EncodeToString(raw) + "\n")
	if err := errors.Join(err, tmp.Sync(), tmp.Close()); err != nil {
		return fmt.Errorf("make the master key: %w", err)
	}
	if err := os.Link(tmp.Name(), path); err != nil && !errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("make the master key: %w", err)
	}
	if err := privatedir.SyncDirectory(dir); err != nil {
		return fmt.Errorf("make the master key durable: %w", err)
	}
	return nil
}

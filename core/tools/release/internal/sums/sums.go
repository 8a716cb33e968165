// Package sums writes the checksums of what is published, and signs them.
package sums

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"aead.dev/minisign"
)

// fileName is the file of the checksums, signatureName that of their signature.
const (
	fileName      = "SHA256SUMS"
	signatureName = fileName + ".minisig"
)

// ReadKey returns the key that MINISIGN_KEY names, with the password MINISIGN_PASSWORD if it is encrypted; nil if there is none and none is
// wanted.
func ReadKey(unsigned bool) (*minisign.PrivateKey, error) {
	name := os.Getenv("MINISIGN_KEY")
	switch {
	case name == "" && unsigned:
		return nil, nil
	case name == "":
		return nil, errors.New("MINISIGN_KEY names no key: set it, or say -unsigned")
	}
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, fmt.Errorf("read the key of MINISIGN_KEY: %w", err)
	}
	var key minisign.PrivateKey
	if minisign.IsEncrypted(text) {
		key, err = minisign.DecryptKey(os.Getenv("MINISIGN_PASSWORD"), text)
	} else {
		err = key.UnmarshalText(text)
	}
	if err != nil {
		return nil, fmt.Errorf("read the key of MINISIGN_KEY: %w", err)
	}
	return &key, nil
}

// Write writes the checksums of all artefacts in a directory, as sha256sum does, and their signature unless key is nil. Former checksums
// and a former signature are replaced. The trusted comment of the signature names the version.
func Write(dir, version string, key *minisign.PrivateKey) error {
	names, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil {
		return err
	}
	names = slices.DeleteFunc(names, func(n string) bool { return filepath.Base(n) == fileName || filepath.Base(n) == signatureName })
	var text bytes.Buffer
	for _, name := range names {
		sum, err := sumFile(name)
		if err != nil {
			return err
		}
		fmt.Fprintf(&text, "%s  %s\n", sum, filepath.Base(name))
	}
	fmt.Print(text.String())
	signature := filepath.Join(dir, signatureName)
	if err := os.Remove(signature); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, fileName), text.Bytes(), 0o644); err != nil {
		return err
	}
	if key == nil {
		return nil
	}
	return os.WriteFile(signature, minisign.SignWithComments(*key, text.Bytes(), "patchbay "+version, "patchbay "+version), 0o644)
}

// sumFile returns the SHA-256 of a file in hexadecimal.
func sumFile(name string) (string, error) {
	f, err := os.Open(name)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

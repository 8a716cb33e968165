package kit

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// ProxySecret is the secret by which the core knows its proxy.
const ProxySecret = "a-secret-of-the-proxy-alone"

// CodeBlock returns the first block of code in a language on a page of the documents, as it stands.
func CodeBlock(t *testing.T, page, language string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(Root(), "core/docs", page))
	Must(t, err)
	_, block, found := strings.Cut(string(text), "\n```"+language+"\n")
	if !found {
		t.Fatalf("%s has no block of %s", page, language)
	}
	block, _, _ = strings.Cut(block, "\n```\n")
	return block + "\n"
}

// SelfSigned writes a certificate for a host and its key into dir, and returns their files and what trusts them.
func SelfSigned(t *testing.T, dir, host string) (certificate, key string, trust *x509.CertPool) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	Must(t, err)
	template := &x509.Certificate{SerialNumber: big.NewInt(1), DNSNames: []string{host}, IsCA: true, BasicConstraintsValid: true,
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, private.Public(), private)
	Must(t, err)
	encoded, err := x509.MarshalPKCS8PrivateKey(private)
	Must(t, err)
	certificate, key, trust = filepath.Join(dir, "patchbay.crt"), filepath.Join(dir, "patchbay.key"), x509.NewCertPool()
	block := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	Must(t, os.WriteFile(certificate, block, 0o600))
	Must(t, os.WriteFile(key, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: encoded}), 0o600))
	trust.AppendCertsFromPEM(block)
	return certificate, key, trust
}

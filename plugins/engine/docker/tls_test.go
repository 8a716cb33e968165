package docker_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/patchbay-dev/patchbay/sdk/engine"
	"github.com/patchbay-dev/patchbay/sdk/errs"
)

// certificate writes a certificate that is its own authority, for both sides of a connection, as a client has it.
func certificate(t *testing.T) (dir string, pair tls.Certificate, pool *x509.CertPool) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	about := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "engine"}, NotBefore: time.Now().Add(-time.Hour),
		NotAfter: time.Now().Add(time.Hour),
		KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign, IsCA: true, BasicConstraintsValid: true,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
	}
	der, err := x509.CreateCertificate(rand.Reader, about, about, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	cert, secret := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}),
		pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: raw})
	dir = t.TempDir()
	for name, data := range map[string][]byte{"ca.pem": cert, "cert.pem": cert, "key.pem": secret} {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if pair, err = tls.X509KeyPair(cert, secret); err != nil {
		t.Fatal(err)
	}
	pool = x509.NewCertPool()
	pool.AppendCertsFromPEM(cert)
	return dir, pair, pool
}

func TestEngineBehindTLS(t *testing.T) {
	dir, pair, pool := certificate(t)
	lis, err := tls.Listen("tcp", "127.0.0.1:0", &tls.Config{
		Certificates: []tls.Certificate{pair}, ClientCAs: pool, ClientAuth: tls.RequireAndVerifyClientCert, MinVersion: tls.VersionTLS12,
	})
	if err != nil {
		t.Fatal(err)
	}
	gate := &door{conns: map[net.Conn]bool{}, lis: lis}
	t.Cleanup(gate.shut)
	go gate.accept(lis)
	c := open(t, fmt.Sprintf(`{"host":"tcp://%s","tls_dir":%q}`, lis.Addr(), dir))
	if info, err := c.Info(t.Context(), ""); err != nil || info.Version == "" {
		t.Errorf("%+v, %v", info, err)
	}
	other, _, _ := certificate(t)
	for name, config := range map[string]string{
		"another certificate": fmt.Sprintf(`{"host":"tcp://%s","tls_dir":%q}`, lis.Addr(), other),
		"no certificate":      fmt.Sprintf(`{"host":"tcp://%s"}`, lis.Addr()),
	} {
		_, err := open(t, config).Containers(t.Context(), engine.Filter{})
		if e := errs.From(err); err == nil || e.Source != errs.Upstream {
			t.Errorf("%s: %v", name, err)
		}
	}
}

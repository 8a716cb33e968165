package mta

import (
	"bufio"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"io"
	"math/big"
	"net/url"
	"strings"
	"time"
)

func newReader(r io.Reader) *bufio.Reader { return bufio.NewReader(r) }

// encodeUserInfo writes a part of a URL's user information.
func encodeUserInfo(s string) string { return strings.ReplaceAll(url.QueryEscape(s), "+", "%20") }

// mainConfig is main.cf.
func (s *Server) mainConfig(uid, gid int) string {
	return fmt.Sprintf(`compatibility_level = 3.6
queue_directory = %[1]s/queue
data_directory = %[1]s/data
command_directory = /usr/sbin
daemon_directory = %[2]s
maillog_file = %[1]s/log
maillog_file_prefixes = %[1]s
mail_owner = postfix
setgid_group = postdrop
alternate_config_directories = %[1]s/conf

myhostname = mail.%[3]s
mydestination =
inet_interfaces = 127.0.0.1
inet_protocols = ipv4
mynetworks = 127.0.0.0/8
alias_maps =
default_transport = discard:
biff = no
local_recipient_maps =

virtual_mailbox_domains = %[3]s
virtual_mailbox_base = %[1]s/mail
virtual_mailbox_maps = static:inbox/
virtual_uid_maps = static:%[4]d
virtual_gid_maps = static:%[5]d

smtpd_error_sleep_time = 0
smtpd_client_connection_count_limit = 0
smtpd_sasl_type = cyrus
smtpd_sasl_path = smtpd
smtpd_sasl_security_options = noanonymous
smtpd_relay_restrictions =
smtpd_recipient_restrictions = check_recipient_access texthash:%[1]s/conf/recipients, permit_sasl_authenticated, reject
smtpd_tls_cert_file = %[1]s/cert.pem
smtpd_tls_key_file = %[1]s/key.pem
smtpd_tls_auth_only = yes
`, s.dir, daemons, s.Domain, uid, gid) + s.relayConfig()
}

// relayConfig is the part of main.cf for the domains whose mail is passed on.
func (s *Server) relayConfig() string {
	if len(s.relayed) == 0 {
		return ""
	}
	var routes []string
	for domain, address := range s.relayed {
		host, port, _ := strings.Cut(address, ":")
		for _, name := range []string{domain, "." + domain} {
			routes = append(routes, fmt.Sprintf("{%s=smtp:[%s]:%s}", name, host, port))
		}
	}
	return "transport_maps = inline:{" + strings.Join(routes, " ") +
		"}\nsmtp_tls_security_level = may\nsmtp_tls_connection_reuse = yes\nqueue_run_delay = 1s\nminimal_backoff_time = 1s\nmaximal_backoff_time = 2s\n" +
		"smtp_destination_concurrency_limit = 18\ninitial_destination_concurrency = 18\nsmtp_destination_concurrency_failed_cohort_limit = 0\n"
}

// masterConfig is master.cf: three listeners, and the processes that a delivery takes.
func (s *Server) masterConfig() string {
	listen := func(port int, options string) string {
		return fmt.Sprintf("127.0.0.1:%d inet n - n - - smtpd\n  %s\n", port, options)
	}
	out := listen(s.Submission, "-o smtpd_tls_security_level=encrypt -o smtpd_sasl_auth_enable=yes") +
		listen(s.SMTPS, "-o smtpd_tls_wrappermode=yes -o smtpd_sasl_auth_enable=yes") +
		listen(s.Plain, "-o smtpd_tls_security_level=none -o smtpd_tls_auth_only=no -o smtpd_sasl_auth_enable=yes\n"+
			fmt.Sprintf("  -o {smtpd_recipient_restrictions=check_recipient_access texthash:%s/conf/recipients, permit_mynetworks, reject}", s.dir))
	for _, line := range []string{
		"cleanup unix n - n - 0 cleanup", "qmgr unix n - n 300 1 qmgr", "pickup unix n - n 60 1 pickup", "rewrite unix - - n - - trivial-rewrite",
		"bounce unix - - n - 0 bounce", "defer unix - - n - 0 bounce", "trace unix - - n - 0 bounce", "verify unix - - n - 1 verify",
		"flush unix n - n 1000? 0 flush", "proxymap unix - - n - - proxymap", "error unix - - n - - error", "retry unix - - n - - error",
		"discard unix - - n - - discard", "virtual unix - n n - - virtual", "smtp unix - - n - - smtp", "scache unix - - n - 1 scache",
		"tlsproxy unix - - n - 0 tlsproxy", "anvil unix - - n - 1 anvil", "tlsmgr unix - - n 1000? 1 tlsmgr",
		"showq unix n - n - - showq", "postlog unix-dgram n - n - 1 postlogd",
	} {
		out += line + "\n"
	}
	return out
}

// makeCertificates makes an authority and a certificate for the server.
func (s *Server) makeCertificates() {
	s.t.Helper()
	now := time.Now()
	ca := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "Mail test authority"}, NotBefore: now.Add(-time.Hour),
		NotAfter: now.Add(24 * time.Hour),
		IsCA:     true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	leaf := &x509.Certificate{
		SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: s.Host}, NotBefore: ca.NotBefore, NotAfter: ca.NotAfter,
		DNSNames: []string{s.Host},
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	caKey, leafKey := s.newKey(), s.newKey()
	s.writeFile("ca.pem", s.signCertificate(ca, ca, caKey, caKey), 0o644)
	s.writeFile("cert.pem", s.signCertificate(leaf, ca, leafKey, caKey), 0o644)
	der, err := x509.MarshalPKCS8PrivateKey(leafKey)
	if err != nil {
		s.t.Fatal(err)
	}
	s.writeFile("key.pem", string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})), 0o600)
}

func (s *Server) newKey() *ecdsa.PrivateKey {
	s.t.Helper()
	k, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		s.t.Fatal(err)
	}
	return k
}

func (s *Server) signCertificate(c, by *x509.Certificate, key, byKey *ecdsa.PrivateKey) string {
	s.t.Helper()
	der, err := x509.CreateCertificate(rand.Reader, c, by, &key.PublicKey, byKey)
	if err != nil {
		s.t.Fatal(err)
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}))
}

package deploycheck

import (
	"bufio"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"slices"
	"strings"
	"sync"
	"time"
)

// expiresSoon is how long before its end a certificate is complained of.
const expiresSoon = 14 * 24 * time.Hour

// checkHost checks the host that MX records name: its addresses, their ports and their reverse names.
func checkHost(ctx context.Context, cfg Config) []Finding {
	if cfg.Host == "" {
		// The MX records are complained of.
		return nil
	}
	addresses, err := lookupAddresses(ctx, cfg)
	switch {
	case err != nil:
		return []Finding{fail("address", cfg.Host, "The addresses of the host could not be looked up.", err.Error(),
			"See that this machine reaches a DNS server, or set resolver in the block of the service.")}
	case len(addresses) == 0:
		return []Finding{fail("address", cfg.Host, "The host has no address.", "",
			"Set an A record, and an AAAA record where there is IPv6, of the host to the public address of this server.")}
	}
	out := make([]Finding, 1+2*len(addresses))
	out[0] = pass("address", cfg.Host, "The host has an address.", strings.Join(addresses, ", "))
	var all sync.WaitGroup
	for i, address := range addresses {
		all.Go(func() { out[1+2*i] = checkPort(ctx, cfg, address) })
		all.Go(func() { out[2+2*i] = checkReverse(ctx, cfg, address) })
	}
	all.Wait()
	return out
}

// lookupAddresses returns the addresses of the host. Each family is asked for by itself: of a question for both, the answer that comes
// last would decide whether the host is said to have no address or not to be looked up.
func lookupAddresses(ctx context.Context, cfg Config) (out []string, failed error) {
	ctx, cancel := context.WithTimeout(ctx, lookupTime)
	defer cancel()
	for _, network := range []string{"ip4", "ip6"} {
		found, err := cfg.Resolver.LookupNetIP(ctx, network, cfg.Host)
		var unsuitable *net.AddrError
		if err != nil && !isNotFound(err) && !errors.As(err, &unsuitable) {
			failed = err
		}
		for _, address := range found {
			out = append(out, address.Unmap().String())
		}
	}
	if len(out) > 0 {
		failed = nil
	}
	return out[:min(len(out), maxAddresses)], failed
}

// checkPort connects to the host as another server would, and reads its greeting.
func checkPort(ctx context.Context, cfg Config, address string) Finding {
	at := net.JoinHostPort(address, cfg.Port)
	const remedy = "Open port 25 in the firewall and at the hosting provider (many open it on request only), and forward it to the listener. A network that does not lead back to its own address fails here although other servers get through."
	ctx, cancel := context.WithTimeout(ctx, dialTime)
	defer cancel()
	var dialer net.Dialer
	conn, err := dialer.DialContext(ctx, "tcp", at)
	if err != nil {
		return fail("port", at, "The port for mail does not answer.", err.Error(), remedy)
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(dialTime))
	greeting, err := bufio.NewReaderSize(conn, 1024).ReadSlice('\n')
	line := strings.TrimSpace(strings.ToValidUTF8(string(greeting), ""))
	if err != nil || !strings.HasPrefix(line, "220") {
		return fail("port", at, "What answers at the port for mail is no mail server.", line, remedy)
	}
	if !slices.ContainsFunc(cfg.Listeners, func(l Listener) bool { return strings.HasPrefix(line, "220 "+l.Hostname+" ") }) {
		return fail("port", at, "Another mail server answers at the port for mail.", line,
			"Stop the other server, or point the address of the host to this one.")
	}
	return pass("port", at, "This server answers at the port for mail.", line)
}

// checkReverse checks that the reverse name of an address is the host.
func checkReverse(ctx context.Context, cfg Config, address string) Finding {
	ctx, cancel := context.WithTimeout(ctx, lookupTime)
	defer cancel()
	const remedy = "Ask your hosting provider to set the PTR record of the address to the host name of the listener."
	found, err := cfg.Resolver.LookupAddr(ctx, address)
	var names []string
	for _, name := range found {
		names = append(names, strings.ToLower(strings.TrimSuffix(name, ".")))
	}
	known := []string{strings.ToLower(cfg.Host)}
	for _, l := range cfg.Listeners {
		known = append(known, strings.ToLower(l.Hostname))
	}
	switch {
	case len(names) == 0 && err != nil && !isNotFound(err):
		return fail("reverse", address, "The reverse name could not be looked up.", err.Error(),
			"See that this machine reaches a DNS server, or set resolver in the block of the service.")
	case len(names) == 0:
		return fail("reverse", address, "The address has no reverse name.", "", remedy)
	case !slices.ContainsFunc(names, func(name string) bool { return slices.Contains(known, name) }):
		return fail("reverse", address, "The reverse name is another one than the server calls itself.", strings.Join(names, ", "), remedy)
	}
	return pass("reverse", address, "The reverse name is that of the server.", strings.Join(names, ", "))
}

// checkCertificate checks the certificate that a listener offers by STARTTLS.
func checkCertificate(cfg Config, l Listener) Finding {
	host := cfg.Host
	if host == "" {
		host = l.Hostname
	}
	if l.CertFile == "" {
		return fail("certificate", host, "There is no certificate: mail comes without encryption.", l.Address,
			"Set tls_cert and tls_key in the smtp block to a certificate of the host name.")
	}
	pair, err := tls.LoadX509KeyPair(l.CertFile, l.KeyFile)
	if err != nil {
		return fail("certificate", host, "The certificate cannot be read.", err.Error(),
			"See that tls_cert and tls_key name files in PEM that belong together, and that this process may read them.")
	}
	// LoadX509KeyPair has parsed it.
	leaf, err := x509.ParseCertificate(pair.Certificate[0])
	if err != nil {
		return fail("certificate", host, "The certificate cannot be read.", err.Error(),
			"See that tls_cert and tls_key name files in PEM that belong together, and that this process may read them.")
	}
	const renew = "Renew the certificate; the files are read again by themselves."
	evidence, now := "valid until "+leaf.NotAfter.UTC().Format(time.DateOnly), cfg.Now()
	switch {
	case now.After(leaf.NotAfter):
		return fail("certificate", host, "The certificate has expired.", evidence, renew)
	case now.Before(leaf.NotBefore):
		return fail("certificate", host, "The certificate is not valid yet.", "valid from "+leaf.NotBefore.UTC().Format(time.DateOnly),
			"See that the clock of this machine is right.")
	case leaf.VerifyHostname(host) != nil:
		return fail("certificate", host, "The certificate is for other names.", strings.Join(leaf.DNSNames, ", "),
			"Get a certificate for the host name that the MX records name.")
	case leaf.NotAfter.Sub(now) < expiresSoon:
		return fail("certificate", host, "The certificate expires within two weeks.", evidence, renew)
	}
	return pass("certificate", host, "The certificate is valid for the host.", evidence)
}

package auth

import (
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
)

// Capability says whether passkeys can be made and used at the address by which a browser has come.
type Capability struct {
	Available bool
	// Reason is the stable name of what stands in the way: public_url_unset, public_url_not_https, public_url_is_address,
	// other_address. "" if nothing does.
	Reason string
	// Message says why, and what to do.
	Message string
	// URL is the address by which it works, "" if none is known.
	URL string
	// rpID and origin are what the browser signs.
	rpID, origin string
}

// Passkeys finds out whether they work for a request. They belong to the host of public_url; without one, to localhost.
func (a Access) Passkeys(r *http.Request) Capability {
	if a.PublicURL == "" {
		return unnamedHost(r)
	}
	u, err := url.Parse(a.PublicURL)
	if err != nil || u.Host == "" {
		return unnamedHost(r)
	}
	host := strings.ToLower(u.Hostname())
	if _, err := netip.ParseAddr(host); err == nil {
		return Capability{Reason: "public_url_is_address", Message: "Browsers make no passkeys for an IP address. " +
			"Set public_url (SVC_PUBLIC_URL) to an https address with a host name; until then sign in with an API key."}
	}
	if u.Scheme != "https" && !isLocalhost(host) {
		return Capability{Reason: "public_url_not_https", Message: "Browsers make passkeys on https addresses only. " +
			"Put a reverse proxy with a certificate in front and set public_url (SVC_PUBLIC_URL) to its https address; until then sign in with an API key."}
	}
	// A proxy may have changed the host that the browser asked for.
	if cutPort(r.Host) != host && (a.Trusted == nil || !a.Trusted.Trusted(peerAddress(r)) || !isProxied(r)) {
		return Capability{Reason: "other_address",
			Message: "Passkeys belong to the address of this server, " + cutOrigin(a.PublicURL) + ": open it there, or sign in with an API key.",
			URL:     cutOrigin(a.PublicURL)}
	}
	return Capability{Available: true, rpID: host, origin: cutOrigin(a.PublicURL), URL: cutOrigin(a.PublicURL)}
}

// unnamedHost returns the capability of a core without a public URL: passkeys work on localhost only.
func unnamedHost(r *http.Request) Capability {
	host := cutPort(r.Host)
	if isLocalhost(host) && plainPort(r.Host) {
		scheme := "http://"
		if r.TLS != nil {
			scheme = "https://"
		}
		return Capability{Available: true, rpID: host, origin: scheme + strings.ToLower(r.Host), URL: scheme + strings.ToLower(r.Host)}
	}
	if ip, err := netip.ParseAddr(host); err == nil && ip.IsLoopback() {
		at := "http://localhost"
		if _, port, err := net.SplitHostPort(r.Host); err == nil && plainPort(r.Host) {
			at += ":" + port
		}
		return Capability{Reason: "other_address",
			Message: "Browsers make no passkeys for an IP address. Open " + at + " instead, or sign in with an API key.", URL: at}
	}
	return Capability{Reason: "public_url_unset", Message: "Passkeys need to know the address of this server. " +
		"Set public_url (SVC_PUBLIC_URL) to the https address under which browsers reach it; until then sign in with an API key."}
}

func isLocalhost(host string) bool {
	return host == "localhost" || strings.HasSuffix(host, ".localhost")
}

// plainPort reports whether a Host header is a name with nothing or a number behind it.
func plainPort(host string) bool {
	_, port, found := strings.Cut(host, ":")
	return !found || port != "" && len(port) <= 5 && strings.Trim(port, "0123456789") == ""
}

func cutPort(host string) string {
	if h, _, err := net.SplitHostPort(host); err == nil {
		host = h
	}
	return strings.ToLower(strings.Trim(host, "[]"))
}

// cutOrigin is the origin of an absolute URL, "" for what is none. A port that the scheme implies is left out, as browsers do.
func cutOrigin(raw string) string {
	u, err := url.Parse(raw)
	if err != nil || u.Host == "" {
		return ""
	}
	host, port := strings.ToLower(u.Host), u.Port()
	if u.Scheme == "https" && port == "443" || u.Scheme == "http" && port == "80" {
		host = strings.TrimSuffix(host, ":"+port)
	}
	return u.Scheme + "://" + host
}

// isProxied reports whether a request has a header that proxies add.
func isProxied(r *http.Request) bool {
	for name := range r.Header {
		if strings.HasPrefix(name, "X-Forwarded") || name == "Forwarded" || name == "X-Real-Ip" || name == "Via" {
			return true
		}
	}
	return false
}

// Secure reports whether the browser has come by https, so that its cookie must not leave by anything else.
func (a Access) Secure(r *http.Request) bool {
	if r.TLS != nil {
		return true
	}
	if a.Trusted != nil && a.Trusted.Trusted(peerAddress(r)) {
		if v := r.Header["X-Forwarded-Proto"]; len(v) == 1 {
			return strings.EqualFold(strings.TrimSpace(v[0]), "https")
		}
	}
	u, err := url.Parse(a.PublicURL)
	return err == nil && u.Scheme == "https" && cutPort(r.Host) == strings.ToLower(u.Hostname())
}

// OriginOf returns the origin under which browsers see the core: that of PublicURL, or else that of a request.
func (a Access) OriginOf(r *http.Request) string {
	switch {
	case a.PublicURL != "":
		return strings.TrimSuffix(a.PublicURL, "/")
	case a.Secure(r):
		return "https://" + r.Host
	}
	return "http://" + r.Host
}

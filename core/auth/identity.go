package auth

import (
	"crypto/subtle"
	"net"
	"net/http"
	"strings"

	"github.com/patchbay-dev/patchbay/core/secret"
)

// HeaderProxySecret is where a proxy shows the secret that it shares with the core.
const HeaderProxySecret = "X-Patchbay-Proxy-Secret"

// Forward says which identities are taken from a reverse proxy that signs people in.
type Forward struct {
	// UserHeader and GroupHeader carry the identity; they count from trusted proxies alone.
	UserHeader, GroupHeader string
	// AllowedUser and AllowedGroup are the allowlist: either is enough. Without one nobody is let in.
	AllowedUser, AllowedGroup string
	// Secret is what the proxy must send in HeaderProxySecret, or its identity headers do not count; "" asks for none.
	Secret string
}

func (f Forward) hasAllowlist() bool { return f.AllowedUser != "" || f.AllowedGroup != "" }

// forwardedIdentity returns the name of the person whom a trusted proxy has signed in, "" without one, and reports whether the
// allowlist lets that person in.
func (a Access) forwardedIdentity(r *http.Request) (name string, allowed bool) {
	f := a.Forward
	if !f.hasAllowlist() || a.Trusted == nil || !a.Trusted.Trusted(peerAddress(r)) || !f.showsSecret(r.Header) {
		return "", false
	}
	name = singleHeader(r.Header, f.UserHeader)
	if name == "" || isReserved(name) {
		return "", false
	}
	if f.AllowedUser != "" && name == f.AllowedUser {
		return name, true
	}
	if f.AllowedGroup == "" {
		return name, false
	}
	for g := range strings.SplitSeq(singleHeader(r.Header, f.GroupHeader), ",") {
		if strings.TrimSpace(g) == f.AllowedGroup {
			return name, true
		}
	}
	return name, false
}

// showsSecret reports whether a request has the secret that the proxy shares with the core, if one is asked for.
func (f Forward) showsSecret(h http.Header) bool {
	if f.Secret == "" {
		return true
	}
	shown := h.Values(HeaderProxySecret)
	// The hashes have the same length, so that the comparison tells nothing about the secret's.
	return len(shown) == 1 && subtle.ConstantTimeCompare(secret.HashToken(shown[0]), secret.HashToken(f.Secret)) == 1
}

// singleHeader returns the value of a header that stands there once, under its own spelling, and that the proxy has filled
// in, else "".
func singleHeader(h http.Header, name string) string {
	values := h.Values(name)
	if len(values) != 1 {
		return ""
	}
	// Some servers take X_Forwarded_User for the same header: a client could set that one.
	for spelled := range h {
		if strings.Contains(spelled, "_") && strings.EqualFold(strings.ReplaceAll(spelled, "_", "-"), name) {
			return ""
		}
	}
	// Other white space belongs to the name, which may be that of somebody else without it.
	v := strings.Trim(values[0], " \t")
	if strings.TrimSpace(v) == "" || isUnfilled(v) {
		return ""
	}
	return v
}

// isUnfilled reports whether a value is what proxies write for nobody, or a variable that they did not fill in, such as
// $remote_user, {user} and %{REMOTE_USER}e.
func isUnfilled(v string) bool {
	if v == "-" || v == "(null)" || strings.Contains(v, "{http.") {
		return true
	}
	for _, prefix := range []string{"$", "{", "%{"} {
		if strings.HasPrefix(v, prefix) {
			return true
		}
	}
	return false
}

// effectiveRole returns the role that a user has now. That of a forwarded user counts only as long as the allowlist can let the
// user in.
func (a Access) effectiveRole(u User) Role {
	f := a.Forward
	if !u.Forwarded || f.AllowedGroup != "" || f.AllowedUser != "" && newForwardedName(f.AllowedUser).namesAccount(u) {
		return u.Role
	}
	return Member
}

// TrustsOpenLoopback reports whether forwarded identities are believed from this machine without a secret although the
// listener at addr is open to others: a proxy here that passes on the headers of its clients lets them name themselves.
func (a Access) TrustsOpenLoopback(addr string) bool {
	if !a.Forward.hasAllowlist() || a.Forward.Secret != "" || a.Trusted == nil || !a.Trusted.Trusted("127.0.0.1") &&
		!a.Trusted.Trusted("::1") {
		return false
	}
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return false
	}
	ip := net.ParseIP(host)
	return host == "" || ip != nil && ip.IsUnspecified()
}

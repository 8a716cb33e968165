package deploycheck

import (
	"cmp"
	"context"
	"slices"
	"strings"
)

func (r *Reports) checkAllowlist(context.Context) ReportCheck {
	a := r.cfg.Access()
	if a.AllowedUser != "" || a.AllowedGroup != "" {
		return passCheck("A forwarded user or group is allowed.",
			"user "+cmp.Or(a.AllowedUser, "none")+", group "+cmp.Or(a.AllowedGroup, "none"))
	}
	if a.AnonymousInDev {
		return failCheck("Everybody who reaches this server may administer it.", "Anybody can run containers on this host.",
			"allow_anonymous_in_dev is true, and there is no allowlist",
			"Set allowed_user or allowed_group in the core block, or allow_anonymous_in_dev = false.")
	}
	return skipCheck(naNone, "No proxy signs people in: they use passkeys.")
}

func (r *Reports) checkProxies(context.Context) ReportCheck {
	a := r.cfg.Access()
	if a.AllowedUser == "" && a.AllowedGroup == "" {
		return skipCheck(naNone, "No proxy signs people in.")
	}
	if a.OpenLoopback {
		c := failCheck("Names are believed from this machine, and the listener is open to others.",
			"A proxy on this machine that passes on headers of its clients lets them name themselves.",
			"trusted_proxies has loopback, http_addr is open, proxy_secret is not set",
			"Set proxy_secret in the core block and have the proxy send it in X-Patchbay-Proxy-Secret, or have http_addr listen on 127.0.0.1.")
		c.Required = false
		return c
	}
	if slices.ContainsFunc(a.TrustedProxies, func(p string) bool { return p != "127.0.0.0/8" && p != "::1/128" }) {
		return passCheck("The proxies that may name people are declared.", strings.Join(a.TrustedProxies, ", "))
	}
	c := skipCheck(naPrereq, "Only proxies on this machine may name people.")
	c.Recommendation = "If the proxy runs in a container or on another machine, add its address to trusted_proxies in the core block."
	return c
}

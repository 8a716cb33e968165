package webops

import "strings"

// BareDomain is a host name as people write it, without scheme, path, "www." and "*."; empty if it is none.
func BareDomain(s string) string {
	s = strings.ToLower(strings.TrimSpace(s))
	if _, rest, ok := strings.Cut(s, "://"); ok {
		s = rest
	}
	s, _, _ = strings.Cut(s, "/")
	s = strings.TrimPrefix(strings.TrimPrefix(s, "*."), "www.")
	if strings.ContainsAny(s, " \t\"'()<>@?#:") {
		return ""
	}
	return s
}

// Within reports whether a host is one of the domains or below one.
func Within(host string, domains []string) bool {
	for _, d := range domains {
		if host == d || strings.HasSuffix(host, "."+d) {
			return true
		}
	}
	return false
}

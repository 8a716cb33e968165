// Package robots reads robots.txt files as RFC 9309 says, with the widespread Crawl-delay and Sitemap, and what pages and
// answers ask of crawlers.
package robots

import (
	"math"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// Rules are what a host says to one crawler. A nil *Rules permits everything. It may be used by several goroutines.
type Rules struct {
	rules []rule
	// Delay is the pause between two requests that the host asks for, 0 if it asks for none.
	Delay time.Duration
	// Sitemaps are the addresses that the file names, as they stand there.
	Sitemaps []string
}

// maxSitemaps bounds the sitemaps of one file.
const maxSitemaps = 100

type rule struct {
	allow bool
	// pattern is in the form of normalize.
	pattern string
}

// Parse reads the rules for a crawler from a robots.txt. The crawler's product token is the word at the beginning of
// userAgent: its rules are those of all groups that name it, else those for "*". Lines that are none are skipped.
func Parse(content []byte, userAgent string) *Rules {
	wanted := productToken(userAgent)
	var own, others Rules
	var sitemaps []string
	named := false
	// forOwn and forOthers tell whom the current group is for; inRules that its user agents are complete.
	forOwn, forOthers, inRules := false, false, false
	text := strings.TrimPrefix(string(content), "\ufeff")
	for line := range strings.FieldsFuncSeq(text, func(r rune) bool { return r == '\n' || r == '\r' }) {
		key, value := splitLine(line)
		switch key {
		case "user-agent":
			if inRules {
				forOwn, forOthers, inRules = false, false, false
			}
			switch agent := productToken(value); {
			case value == "*":
				forOthers = true
			case agent != "" && agent == wanted:
				forOwn, named = true, true
			}
		case "allow", "disallow":
			inRules = true
			if value == "" {
				continue
			}
			r := rule{allow: key == "allow", pattern: normalizePath(value)}
			if forOwn {
				own.rules = append(own.rules, r)
			}
			if forOthers {
				others.rules = append(others.rules, r)
			}
		case "crawl-delay":
			inRules = true
			if delay, ok := parseDelay(value); ok {
				if forOwn {
					own.Delay = delay
				}
				if forOthers {
					others.Delay = delay
				}
			}
		case "sitemap":
			if value != "" && len(sitemaps) < maxSitemaps {
				sitemaps = append(sitemaps, value)
			}
		}
	}
	own.Sitemaps, others.Sitemaps = sitemaps, sitemaps
	if named {
		return &own
	}
	return &others
}

// parseDelay reads a number of seconds.
func parseDelay(value string) (time.Duration, bool) {
	seconds, err := strconv.ParseFloat(value, 64)
	if err != nil || math.IsNaN(seconds) || seconds < 0 || seconds > math.MaxInt32 {
		return 0, false
	}
	return time.Duration(seconds * float64(time.Second)), true
}

// splitLine returns the key of a line in lower case and its value, without a comment.
func splitLine(line string) (key, value string) {
	line, _, _ = strings.Cut(line, "#")
	key, value, _ = strings.Cut(line, ":")
	return strings.ToLower(strings.TrimSpace(key)), strings.TrimSpace(value)
}

// productToken is the name at the beginning of a user agent, in lower case.
func productToken(userAgent string) string {
	end := strings.IndexFunc(userAgent, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && r != '-' && r != '_'
	})
	if end >= 0 {
		userAgent = userAgent[:end]
	}
	return strings.ToLower(userAgent)
}

// Allows reports whether the crawler may fetch u. The longest pattern that matches its path and query decides, and of
// equal ones that which permits.
func (r *Rules) Allows(u *url.URL) bool {
	target := u.EscapedPath()
	if target == "" {
		target = "/"
	}
	if u.RawQuery != "" {
		target += "?" + u.RawQuery
	}
	if r == nil || target == "/robots.txt" {
		return true
	}
	target = normalizePath(target)
	longest, allowed := -1, true
	for _, rule := range r.rules {
		n := len(rule.pattern)
		if n < longest || n == longest && !rule.allow || !matchesPattern(rule.pattern, target) {
			continue
		}
		longest, allowed = n, rule.allow
	}
	return allowed
}

// matchesPattern reports whether a pattern matches the beginning of target, or all of it if the pattern ends with "$". A "*"
// stands for any characters. The time is bounded by the product of both lengths.
func matchesPattern(pattern, target string) bool {
	pattern, anchored := strings.CutSuffix(pattern, "$")
	pieces := strings.Split(pattern, "*")
	if !strings.HasPrefix(target, pieces[0]) {
		return false
	}
	rest := target[len(pieces[0]):]
	if len(pieces) == 1 {
		return !anchored || rest == ""
	}
	last := len(pieces) - 1
	for i, piece := range pieces[1:] {
		if i+1 == last && anchored {
			return strings.HasSuffix(rest, piece)
		}
		at := strings.Index(rest, piece)
		if at < 0 {
			return false
		}
		rest = rest[at+len(piece):]
	}
	return true
}

const hexDigits = "0123456789ABCDEF"

// normalizePath gives the same address one spelling: characters that need no escape stand for themselves, all others that
// are not ASCII are escaped, in upper case.
func normalizePath(s string) string {
	var b strings.Builder
	b.Grow(len(s))
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch {
		case c == '%' && i+2 < len(s) && hexDigit(s[i+1]) >= 0 && hexDigit(s[i+2]) >= 0:
			decoded := byte(hexDigit(s[i+1])<<4 | hexDigit(s[i+2]))
			i += 2
			if isUnreserved(decoded) {
				b.WriteByte(decoded)
				continue
			}
			b.WriteString("%" + string(hexDigits[decoded>>4]) + string(hexDigits[decoded&15]))
		case c <= ' ' || c >= 0x7f:
			b.WriteString("%" + string(hexDigits[c>>4]) + string(hexDigits[c&15]))
		default:
			b.WriteByte(c)
		}
	}
	return b.String()
}

func hexDigit(c byte) int {
	switch {
	case c >= '0' && c <= '9':
		return int(c - '0')
	case c|0x20 >= 'a' && c|0x20 <= 'f':
		return int(c|0x20-'a') + 10
	}
	return -1
}

// isUnreserved reports whether RFC 3986 gives an escaped c the meaning of c.
func isUnreserved(c byte) bool {
	return c|0x20 >= 'a' && c|0x20 <= 'z' || c >= '0' && c <= '9' || strings.IndexByte("-._~", c) >= 0
}

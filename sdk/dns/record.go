package dns

import (
	"net/netip"
	"slices"
	"strconv"
	"strings"
)

// Type is the type of records.
type Type string

// The types that a provider knows.
const (
	A     Type = "A"
	AAAA  Type = "AAAA"
	CNAME Type = "CNAME"
	MX    Type = "MX"
	TXT   Type = "TXT"
)

// Types returns the types that a provider knows.
func Types() []Type { return []Type{A, AAAA, CNAME, MX, TXT} }

// RecordSet is all records of one name and type.
type RecordSet struct {
	Name string
	Type Type
	// TTL is in seconds; 0 asks for the vendor's default.
	TTL int
	// Values are: an address (A, AAAA), a name (CNAME), "10 mail.example.com" (MX), and the text itself, without quotes
	// and undivided (TXT).
	Values []string
}

// NormalizeName returns a name in lower case without a dot at the end.
func NormalizeName(name string) string { return strings.TrimSuffix(strings.ToLower(name), ".") }

// IsLocal reports whether a name is localhost or lies below it. Such a name means this machine everywhere: it needs no
// records and is never looked up.
func IsLocal(name string) bool {
	name = NormalizeName(name)
	return name == "localhost" || strings.HasSuffix(name, ".localhost")
}

// InZone reports whether a name equals the name of a zone or lies below it.
func InZone(name, zone string) bool { return name == zone || strings.HasSuffix(name, "."+zone) }

// LongestZone returns the zone that name lies in: of those that equal or contain it, the one with the longest name. Without
// one the error is NoZone.
func LongestZone(zones []Zone, name string) (*Zone, error) {
	var found *Zone
	for i, z := range zones {
		if InZone(name, z.Name) && (found == nil || len(z.Name) > len(found.Name)) {
			found = &zones[i]
		}
	}
	if found == nil {
		return nil, NoZone(name)
	}
	return found, nil
}

// Normalized returns the set with its name and values in their usual form: addresses as Go writes them, names in lower case
// without a dot at the end, each value once, sorted. The error is InvalidRequest and names the member and its limit.
func (s RecordSet) Normalized() (RecordSet, error) {
	out := RecordSet{Name: NormalizeName(s.Name), Type: s.Type, TTL: s.TTL}
	switch {
	case !slices.Contains(Types(), s.Type):
		return out, InvalidRequest("the type must be one of A, AAAA, CNAME, MX and TXT")
	case s.TTL < 0 || s.TTL > MaxTTL:
		return out, InvalidRequest("the TTL must be 0 to %d seconds", MaxTTL)
	case len(s.Values) > MaxValues:
		return out, InvalidRequest("a record set may have %d values, this one has %d", MaxValues, len(s.Values))
	}
	if err := checkName("the name", out.Name, true); err != nil {
		return out, err
	}
	for _, v := range s.Values {
		value, err := NormalizeValue(s.Type, v)
		if err != nil {
			return out, err
		}
		out.Values = append(out.Values, value)
	}
	slices.Sort(out.Values)
	out.Values = slices.Compact(out.Values)
	if s.Type == CNAME && len(out.Values) > 1 {
		return out, InvalidRequest("a CNAME has one value")
	}
	return out, nil
}

// NormalizeValue returns a value in its usual form. The error is InvalidRequest.
func NormalizeValue(recordType Type, value string) (string, error) {
	switch recordType {
	case A, AAAA:
		addr, err := netip.ParseAddr(value)
		if err != nil || addr.Is4() != (recordType == A) || addr.Zone() != "" {
			return "", InvalidRequest("%.60q is not the value of a record of type %s", value, recordType)
		}
		return addr.String(), nil
	case CNAME:
		name := NormalizeName(value)
		return name, checkName("the value of a CNAME", name, false)
	case MX:
		return normalizeMX(value)
	case TXT:
		return value, checkText(value)
	}
	return "", InvalidRequest("the type must be one of A, AAAA, CNAME, MX and TXT")
}

// SplitMX returns preference and host of a value of an MX record. The host of a null MX (RFC 7505) is ".".
func SplitMX(value string) (preference uint16, host string, err error) {
	number, host, ok := strings.Cut(strings.TrimSpace(value), " ")
	n, parseErr := strconv.ParseUint(number, 10, 16)
	if !ok || parseErr != nil {
		return 0, "", InvalidRequest("%.60q is not the value of an MX record, such as \"10 mail.example.com\"", value)
	}
	return uint16(n), strings.TrimSpace(host), nil
}

func normalizeMX(value string) (string, error) {
	preference, host, err := SplitMX(value)
	if err != nil {
		return "", err
	}
	if host != "." {
		host = NormalizeName(host)
		if err := checkName("the host of an MX record", host, false); err != nil {
			return "", err
		}
	}
	return strconv.Itoa(int(preference)) + " " + host, nil
}

func checkText(text string) error {
	if text == "" || len(text) > MaxText {
		return InvalidRequest("the value of a TXT record must have 1 to %d bytes", MaxText)
	}
	if i := strings.IndexFunc(text, func(r rune) bool { return r < ' ' || r == 0x7f }); i >= 0 {
		return InvalidRequest("the value of a TXT record has a control character at byte %d", i)
	}
	return nil
}

// checkName checks a name in its usual form. Labels may begin with an underscore, as those of _dmarc do.
func checkName(what, name string, wildcard bool) error {
	if name == "" || len(name) > 253 {
		return InvalidRequest("%s must have 1 to 253 characters", what)
	}
	for i, label := range strings.Split(name, ".") {
		if i == 0 && label == "*" && wildcard && len(name) > 1 {
			continue
		}
		if !isLabel(label) {
			return InvalidRequest("%s, %.80q, must be labels of 1 to 63 letters, digits, hyphens and underscores, separated by dots", what, name)
		}
	}
	return nil
}

func isLabel(label string) bool {
	if label == "" || len(label) > 63 || label[0] == '-' || label[len(label)-1] == '-' {
		return false
	}
	return !strings.ContainsFunc(label, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < '0' || r > '9') && r != '-' && r != '_'
	})
}

// Package dnsrr converts between record sets and the records of github.com/miekg/dns.
package dnsrr

import (
	"fmt"
	"net"
	"slices"
	"strings"

	mdns "github.com/miekg/dns"

	"github.com/patchbay-dev/patchbay/sdk/dns"
)

// maxString is the length of one string of a TXT record in bytes; a longer text is divided.
const maxString = 255

// TypeOf returns the number of a type on the wire; 0 for an empty one.
func TypeOf(t dns.Type) uint16 { return mdns.StringToType[string(t)] }

// Records returns the records of a set whose values are in their usual form.
func Records(set dns.RecordSet) ([]mdns.RR, error) {
	var out []mdns.RR
	for _, value := range set.Values {
		header := mdns.RR_Header{Name: mdns.Fqdn(set.Name), Rrtype: TypeOf(set.Type), Class: mdns.ClassINET, Ttl: uint32(set.TTL)}
		switch set.Type {
		case dns.A:
			out = append(out, &mdns.A{Hdr: header, A: net.ParseIP(value)})
		case dns.AAAA:
			out = append(out, &mdns.AAAA{Hdr: header, AAAA: net.ParseIP(value)})
		case dns.CNAME:
			out = append(out, &mdns.CNAME{Hdr: header, Target: mdns.Fqdn(value)})
		case dns.MX:
			preference, host, err := dns.SplitMX(value)
			if err != nil {
				return nil, err
			}
			out = append(out, &mdns.MX{Hdr: header, Preference: preference, Mx: mdns.Fqdn(host)})
		case dns.TXT:
			out = append(out, &mdns.TXT{Hdr: header, Txt: divideText(value)})
		}
	}
	return out, nil
}

// Contents returns the values of a set as a zone file has them, such as `"a text"` and `10 mail.example.com.`
func Contents(set dns.RecordSet) ([]string, error) {
	records, err := Records(set)
	var out []string
	for _, rr := range records {
		out = append(out, strings.TrimPrefix(rr.String(), rr.Header().String()))
	}
	return out, err
}

// ValueOfContent returns the value of a record that a zone file would have.
func ValueOfContent(recordType dns.Type, content string) (string, error) {
	rr, err := mdns.NewRR(". 0 IN " + string(recordType) + " " + content)
	if err == nil && rr != nil {
		if value, ok := ValueOf(rr); ok {
			return value, nil
		}
	}
	return "", fmt.Errorf("%.80q is not the content of a record of type %s", content, recordType)
}

// ValueOf returns the value of a record as a set has it. Records of other types have none.
func ValueOf(rr mdns.RR) (value string, ok bool) {
	switch rr := rr.(type) {
	case *mdns.A:
		value = rr.A.String()
	case *mdns.AAAA:
		value = rr.AAAA.String()
	case *mdns.CNAME:
		value = rr.Target
	case *mdns.MX:
		value = strings.TrimPrefix(rr.String(), rr.Hdr.String())
	case *mdns.TXT:
		return unescapeText(strings.Join(rr.Txt, "")), true
	default:
		return "", false
	}
	value, err := dns.NormalizeValue(dns.Type(mdns.TypeToString[rr.Header().Rrtype]), value)
	return value, err == nil
}

// Sets joins records to sets, of the types that a provider knows alone, sorted by name and type. An empty name and type mean
// all.
func Sets(records []mdns.RR, name string, recordType dns.Type) []dns.RecordSet {
	var out []dns.RecordSet
	for _, rr := range records {
		value, ok := ValueOf(rr)
		owner, t := dns.NormalizeName(rr.Header().Name), dns.Type(mdns.TypeToString[rr.Header().Rrtype])
		if !ok || name != "" && owner != name || recordType != "" && t != recordType {
			continue
		}
		i := slices.IndexFunc(out, func(s dns.RecordSet) bool { return s.Name == owner && s.Type == t })
		if i < 0 {
			i = len(out)
			out = append(out, dns.RecordSet{Name: owner, Type: t, TTL: int(rr.Header().Ttl)})
		}
		out[i].Values = append(out[i].Values, value)
	}
	for _, s := range out {
		slices.Sort(s.Values)
	}
	slices.SortFunc(out, func(a, b dns.RecordSet) int {
		return strings.Compare(a.Name+" "+string(a.Type), b.Name+" "+string(b.Type))
	})
	return out
}

// divideText escapes a text and divides it into strings.
func divideText(text string) []string {
	var out []string
	for part := range slices.Chunk([]byte(text), maxString) {
		var escaped strings.Builder
		for _, b := range part {
			switch {
			case b == '"' || b == '\\':
				escaped.WriteString(`\` + string(rune(b)))
			case b < ' ' || b > '~':
				fmt.Fprintf(&escaped, `\%03d`, b)
			default:
				escaped.WriteByte(b)
			}
		}
		out = append(out, escaped.String())
	}
	return out
}

// unescapeText undoes the escapes in which the bytes of a text are kept: \" and \\ and \DDD.
func unescapeText(text string) string {
	if !strings.Contains(text, `\`) {
		return text
	}
	out := make([]byte, 0, len(text))
	for i := 0; i < len(text); i++ {
		switch rest := text[i+1:]; {
		case text[i] != '\\' || rest == "":
			out = append(out, text[i])
		case len(rest) >= 3 && isDigit(rest[0]) && isDigit(rest[1]) && isDigit(rest[2]):
			out = append(out, (rest[0]-'0')*100+(rest[1]-'0')*10+rest[2]-'0')
			i += 3
		default:
			out = append(out, rest[0])
			i++
		}
	}
	return string(out)
}

func isDigit(b byte) bool { return b >= '0' && b <= '9' }

package rfc822

import (
	"net/mail"
	"regexp"
	"strings"
	"time"
)

// zones are the offsets of the zone names that mail has.
var zones = map[string]string{
	"UT": "+0000", "UTC": "+0000", "GMT": "+0000", "Z": "+0000", "WET": "+0000", "BST": "+0100", "WEST": "+0100", "CET": "+0100",
	"MET": "+0100", "CEST": "+0200", "MEST": "+0200", "EET": "+0200",
	"EEST": "+0300", "MSK": "+0300", "IST": "+0530", "HKT": "+0800", "SGT": "+0800", "AWST": "+0800", "JST": "+0900", "KST": "+0900",
	"AEST": "+1000", "AEDT": "+1100", "NZST": "+1200", "NZDT": "+1300",
	"EST": "-0500", "EDT": "-0400", "CST": "-0600", "CDT": "-0500", "MST": "-0700", "MDT": "-0600", "PST": "-0800", "PDT": "-0700",
	"AKST": "-0900", "AKDT": "-0800", "HST": "-1000",
}

var (
	zoneName   = regexp.MustCompile(`\s([A-Za-z]{1,5})$`)
	zoneOffset = regexp.MustCompile(`\s(?:GMT|UTC)?([+-])(\d{1,2})(?::?(\d{2}))?$`)
)

// parseDate returns the time of a Date field, zero if it cannot be read. Zones may have names; without one it is UTC.
func parseDate(value string) time.Time {
	value = strings.TrimSpace(stripComments(value))
	if m := zoneOffset.FindStringSubmatch(value); m != nil {
		hours, minutes := m[2], m[3]
		if len(hours) == 1 {
			hours = "0" + hours
		}
		if minutes == "" {
			minutes = "00"
		}
		value = strings.TrimSuffix(value, m[0]) + " " + m[1] + hours + minutes
	} else if m := zoneName.FindStringSubmatch(value); m != nil {
		if offset := zones[strings.ToUpper(m[1])]; offset != "" {
			value = strings.TrimSuffix(value, m[0]) + " " + offset
		}
	}
	date, err := mail.ParseDate(value)
	if err != nil {
		date, err = mail.ParseDate(value + " +0000")
	}
	if err != nil || date.Year() < 1970 || date.Year() >= 10000 {
		return time.Time{}
	}
	return date.UTC()
}

// stripComments returns a value without what stands in parentheses outside quotes.
func stripComments(value string) string {
	var out strings.Builder
	depth, quoted := 0, false
	for i := 0; i < len(value); i++ {
		c := value[i]
		switch {
		case c == '\\' && i+1 < len(value):
			if depth == 0 {
				out.WriteString(value[i : i+2])
			}
			i++
			continue
		case c == '"' && depth == 0:
			quoted = !quoted
		case c == '(' && !quoted:
			depth++
		case c == ')' && !quoted && depth > 0:
			depth--
			continue
		}
		if depth == 0 {
			out.WriteByte(c)
		}
	}
	return out.String()
}

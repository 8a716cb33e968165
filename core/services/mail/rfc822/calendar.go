package rfc822

import (
	"strings"
	"time"

	"github.com/patchbay-dev/patchbay/core/texts"
)

const (
	// maxCalendar is how much of the calendars of a message is read, in bytes, and maxEvents how many of their events.
	maxCalendar, maxEvents = 128 << 10, 20
	// calendarType is the media type of a calendar, and calendarName the name of one without a name.
	calendarType, calendarName = "text/calendar", "invite.ics"
	// maxEventText is the longest text of an event, in bytes.
	maxEventText = 500
)

// Event is an event in a calendar that a message has: an invitation, an answer to one, or its end.
type Event struct {
	// Method is what the calendar asks for, such as REQUEST, REPLY or CANCEL, or "".
	Method string `json:"method" example:"REQUEST"`
	// Summary is what the event is called.
	Summary  string `json:"summary" example:"Weekly review"`
	Location string `json:"location"`
	// Organizer is a name or an address.
	Organizer string `json:"organizer" example:"ada@example.com"`
	// Start and End are times of RFC 3339 in UTC, without a Z if the zone is not known, or days; "" for none.
	Start string `json:"start" example:"2026-11-21T10:00:00Z"`
	End   string `json:"end" example:"2026-11-21T11:00:00Z"`
	// Zone is the name of a zone that is not known, or "".
	Zone string `json:"zone"`
	// Repeats reports whether there are more than this one.
	Repeats bool `json:"repeats"`
}

// parseCalendar returns the events of an iCalendar text (RFC 5545). What cannot be read is left out.
func parseCalendar(text string) (events []Event) {
	var open []string
	var event *Event
	method := ""
	for _, line := range unfoldLines(text) {
		name, params, value := splitProperty(line)
		switch {
		case name == "BEGIN":
			open = append(open, strings.ToUpper(value))
			if strings.EqualFold(value, "VEVENT") && len(events) < maxEvents {
				event = &Event{}
			}
		case name == "END" && len(open) > 0:
			if open = open[:len(open)-1]; strings.EqualFold(value, "VEVENT") && event != nil {
				events, event = append(events, *event), nil
			}
		case name == "METHOD" && len(open) == 1:
			method = strings.ToUpper(texts.OneLine(value, 40))
		case event != nil && len(open) > 0 && open[len(open)-1] == "VEVENT":
			event.setProperty(name, params, value)
		}
	}
	for i := range events {
		events[i].Method = method
	}
	return events
}

// unfoldLines returns the lines of a calendar without their folds.
func unfoldLines(text string) (lines []string) {
	var unfolded strings.Builder
	endLine := func() {
		if unfolded.Len() > 0 {
			lines = append(lines, unfolded.String())
			unfolded.Reset()
		}
	}
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		if unfolded.Len() > 0 && (strings.HasPrefix(line, " ") || strings.HasPrefix(line, "\t")) {
			line = line[1:]
		} else if line != "" {
			endLine()
		}
		unfolded.WriteString(line)
	}
	endLine()
	return lines
}

// splitProperty splits a line into the name of a property, its parameters and its value.
func splitProperty(line string) (name string, params map[string]string, value string) {
	var parts []string
	quoted, start := false, 0
	for i := 0; i < len(line); i++ {
		switch c := line[i]; {
		case c == '"':
			quoted = !quoted
		case !quoted && (c == ';' || c == ':'):
			parts, start = append(parts, line[start:i]), i+1
			if c == ':' {
				value = strings.TrimSpace(line[start:])
				i = len(line)
			}
		}
	}
	if len(parts) == 0 {
		return "", nil, ""
	}
	params = map[string]string{}
	for _, part := range parts[1:] {
		key, v, _ := strings.Cut(part, "=")
		params[strings.ToUpper(key)] = strings.Trim(v, `"`)
	}
	return strings.ToUpper(parts[0]), params, value
}

// setProperty sets what a property of the event says.
func (e *Event) setProperty(name string, params map[string]string, value string) {
	switch name {
	case "SUMMARY":
		e.Summary = calendarText(value)
	case "LOCATION":
		e.Location = calendarText(value)
	case "ORGANIZER":
		if scheme, address, ok := strings.Cut(value, ":"); ok && strings.EqualFold(scheme, "mailto") {
			value = address
		}
		if value = calendarText(value); params["CN"] != "" {
			value = texts.OneLine(params["CN"]+" <"+value+">", maxEventText)
		}
		e.Organizer = value
	case "DTSTART":
		e.Start, e.Zone = calendarTime(params, value)
	case "DTEND":
		e.End, _ = calendarTime(params, value)
	case "RRULE", "RDATE":
		e.Repeats = true
	}
}

var calendarEscapes = strings.NewReplacer(`\n`, " ", `\N`, " ", `\,`, ",", `\;`, ";", `\\`, `\`)

// calendarText returns a text without its escapes, as one line.
func calendarText(value string) string {
	return texts.OneLine(calendarEscapes.Replace(value), maxEventText)
}

// calendarTime returns a time or a day, and the name of its zone if that is not known.
func calendarTime(params map[string]string, value string) (text, zone string) {
	if day, err := time.Parse("20060102", value); err == nil {
		return day.Format(time.DateOnly), ""
	}
	if at, err := time.Parse("20060102T150405Z", value); err == nil {
		return at.Format(time.RFC3339), ""
	}
	const wall = "20060102T150405"
	at, err := time.Parse(wall, value)
	if err != nil {
		return "", ""
	}
	zone = texts.OneLine(params["TZID"], 100)
	if place, err := time.LoadLocation(strings.TrimPrefix(zone, "/")); err == nil && zone != "" && zone != "Local" {
		if at, err = time.ParseInLocation(wall, value, place); err == nil {
			return at.UTC().Format(time.RFC3339), ""
		}
	}
	return at.Format("2006-01-02T15:04:05"), zone
}

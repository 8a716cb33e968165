package rfc822

import (
	"slices"
	"strings"
	"testing"
)

func TestParseCalendar(t *testing.T) {
	const begin, end = "BEGIN:VCALENDAR\nMETHOD:REQUEST\nBEGIN:VEVENT\n", "END:VEVENT\nEND:VCALENDAR\n"
	for _, test := range []struct {
		name, text string
		want       []Event
	}{
		{"UTC", begin + "SUMMARY:Review\\, weekly\nDTSTART:20261121T100000Z\nDTEND:20261121T110000Z\nORGANIZER;CN=\"Ada: Lovelace\":mailto:ada@example.com\nLOCATION:Room 5\nRRULE:FREQ=WEEKLY\n" + end,
			[]Event{{"REQUEST", "Review, weekly", "Room 5", "Ada: Lovelace <ada@example.com>", "2026-11-21T10:00:00Z", "2026-11-21T11:00:00Z", "",
				true}}},
		{"a zone", begin + "SUMMARY:A\nDTSTART;TZID=Europe/Berlin:20260721T100000\n" + end,
			[]Event{{Method: "REQUEST", Summary: "A", Start: "2026-07-21T08:00:00Z"}}},
		{"an unknown zone", begin + "SUMMARY:A\nDTSTART;TZID=Nowhere Time:20260721T100000\n" + end,
			[]Event{{Method: "REQUEST", Summary: "A", Start: "2026-07-21T10:00:00", Zone: "Nowhere Time"}}},
		{"a day", begin + "SUMMARY:A\nDTSTART;VALUE=DATE:20260721\n" + end, []Event{{Method: "REQUEST", Summary: "A", Start: "2026-07-21"}}},
		{"folds", begin + "SUMMARY:A long\n  name\nDESCRIPTION:x\n" + end, []Event{{Method: "REQUEST", Summary: "A long name"}}},
		{"an alarm", begin + "SUMMARY:A\nBEGIN:VALARM\nSUMMARY:B\nEND:VALARM\n" + end, []Event{{Method: "REQUEST", Summary: "A"}}},
		{"a zone with rules", "BEGIN:VCALENDAR\nBEGIN:VTIMEZONE\nDTSTART:19700101T000000\nEND:VTIMEZONE\nBEGIN:VEVENT\nSUMMARY:A\nEND:VEVENT\nMETHOD:CANCEL\nEND:VCALENDAR\n", []Event{{Method: "CANCEL", Summary: "A"}}},
		{"no calendar", "hello: world\n::;;\nEND\nEND:VEVENT\n", nil},
	} {
		if got := parseCalendar(crlf(test.text)); !slices.Equal(got, test.want) {
			t.Errorf("%s: %+v, want %+v", test.name, got, test.want)
		}
	}
	p := checkParsed(t, partOf("Content-Type: text/calendar; charset=utf-8; method=REQUEST\n\n"+begin+"SUMMARY:会议\n"+end))
	if len(p.Events) != 1 || p.Events[0].Summary != "会议" || len(p.Attachments) != 1 || p.Attachments[0].Filename != "invite.ics" {
		t.Errorf("events %+v, attachments %+v", p.Events, p.Attachments)
	}
}

// TestCalendarsAreBounded has folds and parts of which there are very many.
func TestCalendarsAreBounded(t *testing.T) {
	const begin, end = "BEGIN:VCALENDAR\nBEGIN:VEVENT\nSUMMARY:", "\nEND:VEVENT\nEND:VCALENDAR\n"
	padding := "\nDESCRIPTION:" + strings.Repeat("x", maxCalendar*2/3)
	part := func(summary, rest string) string {
		return "--b\nContent-Type: text/calendar\n\n" + begin + summary + rest + end
	}
	for _, test := range []struct {
		name, parts string
		want        []string
	}{
		{"small calendars", part("A", "") + part("B", ""), []string{"A", "B"}},
		{"the limit is that of the message", part("A", padding) + part("B", padding) + part("C", ""), []string{"A"}},
		{"one of folds", part("A", strings.Repeat("\n b", 100)), []string{"A" + strings.Repeat("b", 100)}},
	} {
		raw := crlf("Subject: x\nContent-Type: multipart/mixed; boundary=b\n\n" + test.parts + "--b--\n")
		p := checkParsed(t, raw)
		var got []string
		for _, e := range p.Events {
			got = append(got, e.Summary)
		}
		if !slices.Equal(got, test.want) || len(p.Attachments) != strings.Count(test.parts, "--b\n") {
			t.Errorf("%s: events %q, %d attachments", test.name, got, len(p.Attachments))
		}
	}
	// The lines are not copied for each fold.
	folds := "SUMMARY:" + strings.Repeat("\n x", maxCalendar/3)
	if n := testing.AllocsPerRun(1, func() { unfoldLines(folds) }); n > 100 {
		t.Errorf("%.0f allocations", n)
	}
}

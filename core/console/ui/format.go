package ui

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"time"
)

// Num is a whole number with the separators of the language.
func (v *View) Num(n int64) string {
	if n >= 0 && n < 1000 {
		// Most numbers have no separators, and the printer takes some twenty times as long.
		return strconv.FormatInt(n, 10)
	}
	return v.kit.cfg.Texts.printers[v.Lang].Sprintf("%d", n)
}

// AtLeast returns a number, with a plus sign if there is more than was counted.
func (v *View) AtLeast(n int, more bool) string {
	if more {
		return v.Num(int64(n)) + "+"
	}
	return v.Num(int64(n))
}

// Percent is part of whole with one decimal; a dash if whole is 0.
func (v *View) Percent(part, whole int64) string {
	if whole <= 0 {
		return "–"
	}
	return v.kit.cfg.Texts.printers[v.Lang].Sprintf("%.1f", float64(part)*100/float64(whole)) + " %"
}

// Bytes is a size such as 12.3 MiB.
func (v *View) Bytes(n int64) string {
	units := []string{"B", "KiB", "MiB", "GiB", "TiB"}
	f, i := float64(n), 0
	for f >= 1024 && i < len(units)-1 {
		f, i = f/1024, i+1
	}
	if i == 0 {
		return strconv.FormatInt(n, 10) + " B"
	}
	return fmt.Sprintf("%.1f %s", f, units[i])
}

// Millis is a duration as short as latencies are written: 0.4 ms, 12 ms, 3.2 s.
func (v *View) Millis(d time.Duration) string {
	switch {
	case d <= 0:
		return "–"
	case d < 10*time.Millisecond:
		return fmt.Sprintf("%.1f ms", float64(d.Microseconds())/1000)
	case d < time.Second:
		return fmt.Sprintf("%d ms", d.Milliseconds())
	}
	return fmt.Sprintf("%.1f s", d.Seconds())
}

// Span is a duration in its largest unit, in words: 5 min, 3 h, 2 d.
func (v *View) Span(d time.Duration) string {
	switch d = d.Abs(); {
	case d < time.Minute:
		return v.T("time.s", "N", int(d.Seconds()))
	case d < time.Hour:
		return v.T("time.min", "N", int(d.Minutes()))
	case d < 48*time.Hour:
		return v.T("time.h", "N", int(d.Hours()))
	}
	return v.T("time.d", "N", int(d.Hours()/24))
}

// Ago tells how long ago, or in how long, a moment is.
func (v *View) Ago(t time.Time) string {
	d := v.Now.Sub(t)
	switch {
	case t.IsZero():
		return "–"
	case d.Abs() < 2*time.Second:
		return v.T("time.now")
	case d < 0:
		return v.T("time.in", "Span", v.Span(d))
	}
	return v.T("time.ago", "Span", v.Span(d))
}

// Exact is a moment to the second, in UTC.
func (v *View) Exact(t time.Time) string {
	if t.IsZero() {
		return "–"
	}
	if v.Lang == Chinese {
		return t.UTC().Format("2006年1月2日 15:04:05 UTC")
	}
	return t.UTC().Format("2 Jan 2006, 15:04:05 UTC")
}

// Minute is a moment of this year to the minute, in UTC.
func (v *View) Minute(t time.Time) string {
	if v.Lang == Chinese {
		return t.UTC().Format("1月2日 15:04")
	}
	return t.UTC().Format("2 Jan 15:04")
}

// Clock is the time of day, in UTC.
func (v *View) Clock(t time.Time) string { return t.UTC().Format("15:04:05") }

// IndentJSON returns JSON for people to read, and anything else as it is.
func IndentJSON(raw []byte) string {
	var b bytes.Buffer
	if json.Indent(&b, raw, "", "  ") != nil {
		return string(raw)
	}
	return b.String()
}

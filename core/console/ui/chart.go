package ui

import (
	"context"
	"io"
	"math"
	"strconv"
	"time"

	"github.com/a-h/templ"
)

// The ways in which the values of a chart are written.
const (
	ChartCount   = "count"
	ChartMillis  = "ms"
	ChartPercent = "percent"
	ChartBytes   = "bytes"
)

// Chart shows values over time: as a drawing where scripts run, and always as a table.
type Chart struct {
	// Title says what is shown, Unit what the values are, such as "requests" or "ms".
	Title, Unit string
	// Format is one of the ways in which values are written.
	Format string
	// Interval is the length of time that a point stands for; 0 where each is one sample.
	Interval time.Duration
	// Span is how much time up to now the drawing shows; 0 for from the first to the last point.
	Span time.Duration
	// Sentence says in words what the chart shows.
	Sentence string
	// Stacked draws the series as bars on top of each other; otherwise they are lines, or bars where values are rare.
	Stacked bool
	Series  []ChartSeries
	Points  []ChartPoint
}

// ChartSeries is one of the values that change over time.
type ChartSeries struct {
	Label string
	// Tone is a colour of the style: accent, info, ok, warn, bad.
	Tone string
}

// ChartPoint has the values of all series at a time.
type ChartPoint struct {
	// At is the time of a sample, or the beginning of an interval.
	At time.Time
	// Values stand in the order of the series; NaN is none.
	Values []float64
}

// AddCharts makes a page load what its charts need, and further scripts behind it.
func (v *View) AddCharts(scripts ...string) {
	v.Scripts = append(append(v.Scripts, "uPlot.iife.min.js", "chart.js"), scripts...)
	v.Styles = append(v.Styles, "uPlot.min.css")
}

// scaleText says what a point of a chart is: its unit, and the time that it stands for.
func (c *Chart) scaleText(v *View) string {
	if c.Interval == 0 {
		return c.Unit
	}
	return v.T("chart.scale", "Unit", c.Unit, "Interval", v.Span(c.Interval))
}

// formatValue writes a value of a chart for people.
func (c *Chart) formatValue(v *View, x float64) string {
	switch {
	case math.IsNaN(x):
		return "–"
	case c.Format == ChartMillis:
		return v.Millis(time.Duration(x * float64(time.Millisecond)))
	case c.Format == ChartPercent:
		return strconv.FormatFloat(x, 'f', 1, 64) + " %"
	case c.Format == ChartBytes:
		return v.Bytes(int64(x))
	}
	return v.Num(int64(x))
}

// valueRow is the row of a point in the table of a chart, which may have hundreds; like a Cell it is no template.
func valueRow(v *View, c *Chart, p ChartPoint) templ.Component {
	return templ.ComponentFunc(func(_ context.Context, w io.Writer) error {
		if err := writeMarkup(w, `<tr><td><time datetime="`, p.At.UTC().Format(time.RFC3339), `">`, templ.EscapeString(v.Minute(p.At)),
			"</time></td>"); err != nil {
			return err
		}
		for _, x := range p.Values {
			if err := writeMarkup(w, `<td class="r" data-v="`, formatNumber(x), `">`, templ.EscapeString(c.formatValue(v, x)), "</td>"); err != nil {
				return err
			}
		}
		return writeMarkup(w, "</tr>")
	})
}

// formatNumber writes a value of a chart for the script that draws it; empty for none.
func formatNumber(x float64) string {
	if math.IsNaN(x) {
		return ""
	}
	return strconv.FormatFloat(x, 'f', -1, 64)
}

func formatSeconds(d time.Duration) string { return strconv.FormatInt(int64(d/time.Second), 10) }

package ui

import (
	"math"
	"strings"
	"testing"
	"time"
)

// TestDrawing reads the table of a chart: values for people and for the script, and where there are none.
func TestDrawing(t *testing.T) {
	tx, err := NewTexts(OwnTexts())
	if err != nil {
		t.Fatal(err)
	}
	v := &View{Lang: English, kit: NewKit(Config{Texts: tx})}
	at := time.Date(2026, 2, 3, 4, 5, 0, 0, time.FixedZone("", 3600))
	for _, tt := range []struct {
		name  string
		chart Chart
		want  []string
	}{
		{"counts", Chart{Title: "Requests", Unit: "requests", Format: ChartCount, Interval: 30 * time.Minute, Stacked: true, Sentence: "Many.",
			Series: []ChartSeries{{"Good", "accent"}, {"Bad", "bad"}}, Points: []ChartPoint{{at, []float64{12345, 0}}}},
			[]string{"<small>requests per 30 min</small>", `data-interval="1800"`, "data-stacked", `datetime="2026-02-03T03:05:00Z"`, "3 Feb 03:05",
				`data-v="12345">12,345<`, `data-tone="bad">Bad<`, `aria-label="Requests: Many."`}},
		{"latency", Chart{Unit: "ms", Format: ChartMillis, Series: []ChartSeries{{"p50", "info"}},
			Points: []ChartPoint{{at, []float64{1234.5}}, {at, []float64{math.NaN()}}}},
			[]string{"<small>ms</small>", `data-v="1234.5">1.2 s<`, `data-v="">–<`}},
		{"shares", Chart{Format: ChartPercent, Series: []ChartSeries{{"CPU", "info"}}, Points: []ChartPoint{{at, []float64{12.34}}}},
			[]string{"12.3 %"}},
		{"sizes", Chart{Format: ChartBytes, Span: time.Hour, Series: []ChartSeries{{"Memory", "info"}},
			Points: []ChartPoint{{at, []float64{3 << 20}}}}, []string{"3.0 MiB", `data-span="3600"`}},
		{"nothing", Chart{Format: ChartBytes, Series: []ChartSeries{{"<b>", "info"}}},
			[]string{"&lt;b&gt;", `data-none="No data in this time range"`}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var page strings.Builder
			if err := Drawing(v, &tt.chart).Render(t.Context(), &page); err != nil {
				t.Fatal(err)
			}
			for _, want := range tt.want {
				if !strings.Contains(page.String(), want) {
					t.Errorf("%q is not in %s", want, page.String())
				}
			}
		})
	}
}

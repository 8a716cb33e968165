package pages

import (
	"time"

	"github.com/patchbay-dev/patchbay/core/console/ui"
	"github.com/patchbay-dev/patchbay/core/services/containers/usage"
)

// windowScale returns how long a window is, and which stretch of it one sample of the history stands for; 0 in the shortest,
// which has every sample.
func windowScale(window string) (span, interval time.Duration) {
	switch window {
	case "3m":
		return 3 * time.Minute, 0
	case "24h":
		return 24 * time.Hour, 10 * time.Minute
	case "7d":
		return 7 * 24 * time.Hour, time.Hour
	}
	return time.Hour, 30 * time.Second
}

func cpuChart(v *ui.View, s serviceView) *ui.Chart {
	out := usageChart(v, s, cpuText, func(x usage.Sample) float64 { return x.CPUPercent })
	out.Title, out.Unit, out.Format = v.T("containers.cpu"), v.T("containers.usage.cpu.unit"), ui.ChartPercent
	out.Series = []ui.ChartSeries{{Label: out.Title, Tone: "accent"}}
	return out
}

func memoryChart(v *ui.View, s serviceView) *ui.Chart {
	out := usageChart(v, s, func(x float64) string { return v.Bytes(int64(x)) },
		func(x usage.Sample) float64 { return float64(x.MemUsedBytes) })
	out.Title, out.Unit, out.Format = v.T("containers.memory"), "MiB", ui.ChartBytes
	out.Series = []ui.ChartSeries{{Label: out.Title, Tone: "info"}}
	return out
}

// usageChart shows one value of the samples.
func usageChart(v *ui.View, s serviceView, format func(float64) string, value func(usage.Sample) float64) *ui.Chart {
	span, interval := windowScale(s.Window)
	out := &ui.Chart{Span: span, Interval: interval, Sentence: v.T("chart.none")}
	if len(s.Samples) == 0 {
		return out
	}
	last := value(s.Samples[len(s.Samples)-1])
	least, most := last, last
	for _, x := range s.Samples {
		y := value(x)
		least, most = min(least, y), max(most, y)
		out.Points = append(out.Points, ui.ChartPoint{At: x.SampledAt.OrZero().Truncate(interval), Values: []float64{y}})
	}
	out.Sentence = v.T("containers.usage.sentence", "Least", format(least), "Most", format(most), "Last", format(last))
	return out
}

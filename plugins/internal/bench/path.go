package main

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"time"
)

const (
	smallQuery = `{"query":"which of the two protocols needs fewer round trips before the first byte of an answer arrives, and what does that cost on a slow line","max_results":5,"search_depth":"basic","topic":"general","include_answer":false,"include_raw_content":false,"include_images":false}`
	largeQuery = `{"query":"50k of what is new","max_results":5,"search_depth":"basic","topic":"general"}`
)

// comparePath compares the whole path with the bare proxy, by size of the answer and connections.
func (b *bench) comparePath() error {
	c, err := b.startCore("path", true)
	if err != nil {
		return err
	}
	defer func() { _ = c.cmd.Process.Kill() }()
	hop, err := b.roundTrip()
	if err != nil {
		return err
	}
	fmt.Printf("One round trip over a pooled stream to a plugin process (1 KB answer, no upstream): p50 %s.\n\n", roundDuration(hop))
	pids, err := b.servingProcesses(c)
	if err != nil {
		return err
	}
	fmt.Println("| answer | connections | gin + ReverseProxy | whole path | ratio | p50 bare | p50 whole | added, in stream round trips | CPU a request, bare | CPU a request, whole |")
	fmt.Println("|---|---|---|---|---|---|---|---|---|---|")
	for _, size := range []struct{ name, query string }{{"1 KB", smallQuery}, {"50 KB", largeQuery}} {
		bare := newTarget(b.baseline.addr, "/search", "", size.query, b.baseline.process, b.upstream.process)
		whole := newTarget(c.base, "/search/api/proxy/search", c.token, size.query, pids...)
		for _, conns := range b.connections {
			x, y, ratio, err := b.compareTargets(bare, whole, conns)
			if err != nil {
				return err
			}
			added := ""
			if conns == 1 {
				added = fmt.Sprintf("%s = %.1f", roundDuration(y.p50-x.p50), float64(y.p50-x.p50)/float64(hop))
			}
			fmt.Printf("| %s | %d | %.0f/s | %.0f/s | %.2f | %s | %s | %s | %s | %s |\n",
				size.name, conns, x.rate, y.rate, ratio, roundDuration(x.p50), roundDuration(y.p50), added, bare.describeCPU(x.cpu),
				whole.describeCPU(y.cpu))
		}
	}
	fmt.Println()
	return nil
}

// auditCost compares the path with and without audit rows.
func (b *bench) auditCost() error {
	with, err := b.startCore("with-audit", true)
	if err != nil {
		return err
	}
	without, err := b.startCore("without-audit", false)
	if err != nil {
		return err
	}
	defer func() { _ = with.cmd.Process.Kill(); _ = without.cmd.Process.Kill() }()
	x, y, ratio, err := b.compareTargets(newTarget(without.base, "/search/api/proxy/search", without.token, smallQuery),
		newTarget(with.base, "/search/api/proxy/search", with.token, smallQuery), 16)
	if err != nil {
		return err
	}
	fmt.Printf("| audit, 1 KB, 16 connections | without | with | ratio |\n|---|---|---|---|\n| requests | %.0f/s | %.0f/s | %.2f |\n\n",
		x.rate, y.rate, ratio)
	return nil
}

// compareTargets runs two targets in turn and returns the medians of each, and the median of the ratios of the rounds.
func (b *bench) compareTargets(a, z target, conns int) (x, y sample, ratio float64, err error) {
	var rates [2][]float64
	var p50 [2][]time.Duration
	var cpu [2][][]time.Duration
	var ratios []float64
	for round := range b.rounds + 1 {
		var rate [2]float64
		for i := range 2 {
			// The order changes from round to round, so that neither is always the second.
			who := (i + round) % 2
			s, err := measureRound([]target{a, z}[who], conns, b.duration)
			if err != nil {
				return x, y, 0, fmt.Errorf("%s with %d connections: %w", []target{a, z}[who].addr, conns, err)
			}
			if rate[who] = s.rate; round > 0 {
				rates[who] = append(rates[who], s.rate)
				p50[who] = append(p50[who], s.p50)
				cpu[who] = append(cpu[who], s.cpu)
			}
		}
		if round > 0 {
			ratios = append(ratios, rate[1]/rate[0])
		}
	}
	sampleOf := func(i int) sample {
		return sample{rate: medianValue(rates[i]), p50: medianValue(p50[i]), cpu: columnMedians(cpu[i])}
	}
	return sampleOf(0), sampleOf(1), medianValue(ratios), nil
}

// columnMedians returns the median of each column of rows of the same length.
func columnMedians(rows [][]time.Duration) []time.Duration {
	if len(rows) == 0 {
		return nil
	}
	out := make([]time.Duration, len(rows[0]))
	for i := range out {
		var column []time.Duration
		for _, row := range rows {
			column = append(column, row[i])
		}
		out[i] = medianValue(column)
	}
	return out
}

// servingProcesses returns the processes that serve a request to c.
func (b *bench) servingProcesses(c *core) ([]process, error) {
	plugin := firstChild(c.cmd.Process.Pid)
	if plugin == 0 {
		return nil, fmt.Errorf("no plugin process was found")
	}
	return []process{{"core", c.cmd.Process.Pid}, {"plugin", plugin}, b.upstream.process}, nil
}

// describeCPU writes the processor time of each of the target's processes for one request.
func (t target) describeCPU(cpu []time.Duration) string {
	var text []string
	for i, d := range cpu {
		text = append(text, fmt.Sprintf("%s %d µs", t.pids[i].name, d.Microseconds()))
	}
	return strings.Join(text, ", ")
}

func roundDuration(d time.Duration) time.Duration { return d.Round(time.Microsecond) }

// describeMachine describes where the figures come from.
func describeMachine(o options) string {
	cpu := "unknown CPU"
	if raw, err := os.ReadFile("/proc/cpuinfo"); err == nil {
		for line := range strings.SplitSeq(string(raw), "\n") {
			if name, ok := strings.CutPrefix(line, "model name"); ok {
				cpu = strings.TrimLeft(name, "\t :")
				break
			}
		}
	}
	return fmt.Sprintf("%s, %d cores, %s/%s, %s; %d rounds of %s each, interleaved, medians.\n\n",
		cpu, runtime.NumCPU(), runtime.GOOS, runtime.GOARCH, runtime.Version(), o.rounds, o.duration)
}

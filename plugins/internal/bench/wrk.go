package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"
)

// hasWrk reports whether the load generator wrk is installed.
func hasWrk() bool {
	_, err := exec.LookPath("wrk")
	return err == nil
}

// wrkScript makes wrk send one fixed request, and print its figures in a form that needs no guessing of units.
const wrkScript = `wrk.method = "POST"
wrk.body = %q
wrk.headers["Content-Type"] = "application/json"
wrk.headers["Authorization"] = %q
function done(summary, latency, requests)
  local e = summary.errors
  io.write(string.format("figures %%d %%d %%d %%d\n", summary.requests, summary.duration, latency:percentile(50),
    e.connect + e.read + e.write + e.status + e.timeout))
end
`

// loadFromWrk sends the requests with one thread of wrk, for d rounded to whole seconds. It returns how many were
// answered.
func loadFromWrk(t target, c int, d time.Duration) (sample, int, error) {
	script, err := os.CreateTemp("", "wrk-*.lua")
	if err != nil {
		return sample{}, 0, err
	}
	defer os.Remove(script.Name())
	authorization := "none"
	if t.token != "" {
		authorization = "Bearer " + t.token
	}
	_, err = fmt.Fprintf(script, wrkScript, t.body, authorization)
	if cerr := script.Close(); err != nil || cerr != nil {
		return sample{}, 0, fmt.Errorf("write wrk script: %w", err)
	}
	seconds := max(1, int(d.Round(time.Second)/time.Second))
	out, err := exec.Command("wrk", "-t1", "-c"+strconv.Itoa(c), "-d"+strconv.Itoa(seconds)+"s", "-s", script.Name(),
		"http://"+t.addr+t.path).CombinedOutput()
	if err != nil {
		return sample{}, 0, fmt.Errorf("run wrk: %w: %s", err, bytes.TrimSpace(out))
	}
	return parseWrk(string(out))
}

// parseWrk reads the line that wrkScript prints: requests, duration and p50 in microseconds, failed requests.
func parseWrk(out string) (sample, int, error) {
	_, line, ok := strings.Cut(out, "figures ")
	line, _, _ = strings.Cut(line, "\n")
	var requests, duration, p50, failed int64
	if n, err := fmt.Sscan(line, &requests, &duration, &p50, &failed); !ok || n != 4 {
		return sample{}, 0, fmt.Errorf("wrk printed no figures: %w: %s", err, out)
	}
	if failed > 0 || requests == 0 || duration <= 0 {
		return sample{}, 0, fmt.Errorf("wrk: %d requests, %d of them failed", requests, failed)
	}
	return sample{rate: float64(requests) / (float64(duration) / 1e6), p50: time.Duration(p50) * time.Microsecond}, int(requests), nil
}

// clockTick is the unit of /proc's processor times: USER_HZ, which is 100 on Linux.
const clockTick = 10 * time.Millisecond

// cpuTime returns the processor time that a process has used, or 0 where /proc does not tell.
func cpuTime(pid int) time.Duration {
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0
	}
	// The command's name may hold spaces; the fields after it begin with the state, which is the third.
	f := strings.Fields(string(raw[bytes.LastIndexByte(raw, ')')+1:]))
	if len(f) < 13 {
		return 0
	}
	user, _ := strconv.ParseInt(f[11], 10, 64)
	system, _ := strconv.ParseInt(f[12], 10, 64)
	return time.Duration(user+system) * clockTick
}

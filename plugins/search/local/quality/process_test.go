package quality

import (
	"os"
	"strconv"
	"strings"
	"syscall"
)

// readCPU returns the CPU time that this process has taken, in seconds.
func readCPU() float64 {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		return 0
	}
	seconds := func(t syscall.Timeval) float64 { return float64(t.Sec) + float64(t.Usec)/1e6 }
	return seconds(usage.Utime) + seconds(usage.Stime)
}

// readPeak returns the peak of the resident memory of this process.
func readPeak() float64 {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	_, peak, _ := strings.Cut(string(status), "VmHWM:")
	peak, _, _ = strings.Cut(peak, "kB")
	n, err := strconv.ParseFloat(strings.TrimSpace(peak), 64)
	if err != nil {
		return 0
	}
	return n * 1024 / 1e6
}

package containers

import (
	"strconv"
	"time"

	"github.com/patchbay-dev/patchbay/plugins/internal/e2e/kit"
)

// cpuTime returns the processor time that processes have used, with that of their children that have ended.
func cpuTime(pids ...int) time.Duration {
	const clockTick = 10 * time.Millisecond // USER_HZ, which is 100 on Linux.
	var ticks int64
	for _, pid := range pids {
		fields := kit.StatOf(pid)
		if len(fields) < 15 {
			continue
		}
		for _, field := range fields[11:15] {
			n, _ := strconv.ParseInt(field, 10, 64)
			ticks += n
		}
	}
	return time.Duration(ticks) * clockTick
}

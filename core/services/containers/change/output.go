package change

import (
	"context"
	"time"

	"github.com/patchbay-dev/patchbay/core/services/containers/failure"
)

const (
	// FailedLines and failedBytes bound the output of a failed container in the log of its job, failedContainers of how many
	// containers it is read, and failedOutputTime how long that may take.
	FailedLines      = 30
	failedBytes      = 8 << 10
	failedContainers = 3
	failedOutputTime = 15 * time.Second
)

// reportOutput writes the last lines of the service's containers that are made from an image into the log of the job.
func (c *change) reportOutput(ctx context.Context, imageID string) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), failedOutputTime)
	defer cancel()
	list, err := c.s.cfg.Host.AllContainersOf(ctx, c.stack.Project, c.svc.Name)
	if err != nil {
		c.r.LogWarning(ctx, "%s: the output of the container cannot be read: %s", c.displayName(), failure.Text(err))
		return
	}
	read := 0
	for _, ct := range list {
		if ct.ImageID != imageID || read == failedContainers {
			continue
		}
		read++
		lines, err := c.s.cfg.Host.LastLines(ctx, ct.ID, FailedLines, failedBytes)
		if err != nil {
			c.r.LogWarning(ctx, "%s: the output of %s cannot be read: %s", c.displayName(), ct.Name, failure.Text(err))
			continue
		}
		if len(lines) == 0 {
			c.r.LogInfo(ctx, "%s has written nothing", ct.Name)
			continue
		}
		c.r.LogInfo(ctx, "The last lines of %s:", ct.Name)
		for _, l := range lines {
			c.r.LogInfo(ctx, "%s | %s", ct.Name, l.Text)
		}
	}
}

package queue_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/patchbay-dev/patchbay/core/queue"
)

func TestOutageIsLoggedOnceAMinute(t *testing.T) {
	c := &clock{time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)}
	var log bytes.Buffer
	o := queue.NewOutage(hclog.New(&hclog.LoggerOptions{Output: &log}), c.now)
	var pauses []time.Duration
	for range 600 {
		o.Fail("submit a scheduled job", errors.New("the disk is full"))
		pauses = append(pauses, o.Pause(time.Second))
		c.at = c.at.Add(time.Second)
	}
	if lines := strings.Count(log.String(), "\n"); lines != 10 {
		t.Errorf("%d lines in ten minutes, want 10", lines)
	}
	if pauses[0] != time.Second || pauses[1] != 2*time.Second || pauses[599] != time.Minute {
		t.Errorf("pauses of %s, %s … %s", pauses[0], pauses[1], pauses[599])
	}
	o.End()
	o.Fail("submit a scheduled job", errors.New("the disk is full"))
	if o.Pause(time.Second) != time.Second || strings.Count(log.String(), "\n") != 11 {
		t.Error("another outage begins anew")
	}
}

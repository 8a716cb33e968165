package shoutrrr

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/patchbay-dev/patchbay/sdk/errs"
	"github.com/patchbay-dev/patchbay/sdk/notify"
)

type channel struct {
	receivers []*receiver
	timeout   time.Duration
	log       hclog.Logger
}

// Send implements notify.Channel.
func (c *channel) Send(ctx context.Context, n *notify.Notification, _ notify.Target) (*notify.Receipt, error) {
	limited, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	messages := make([]message, len(c.receivers))
	problems := make([]*errs.Error, len(c.receivers))
	var all sync.WaitGroup
	for i, r := range c.receivers {
		messages[i] = composeMessage(n, r)
		all.Go(func() { problems[i] = c.sendOne(limited, i, messages[i], r) })
	}
	all.Wait()
	return summarizeOutcomes(messages, problems, n.ID)
}

func (c *channel) sendOne(ctx context.Context, i int, m message, r *receiver) *errs.Error {
	err := r.sendText(ctx, m.title, m.text)
	if err == nil {
		return nil
	}
	e := toOutcome(fmt.Sprintf("urls[%d] (%s)", i, r.scheme), err)
	c.log.Debug("not delivered", "service", r.scheme, "index", i, "reason", e.Reason)
	return e
}

// summarizeOutcomes makes one outcome of several: delivered if one was; else the least certain of the failures, so that nothing
// is repeated that may have arrived.
func summarizeOutcomes(messages []message, problems []*errs.Error, id string) (*notify.Receipt, error) {
	out := &notify.Receipt{}
	var worst *errs.Error
	for i, e := range problems {
		if e == nil {
			out.MessageIDs = []string{id}
			out.Delivered = unionParts(out.Delivered, messages[i].parts)
			if messages[i].cut {
				out.Warnings = append(out.Warnings, fmt.Sprintf("urls[%d]: the text is shortened to what the service takes", i))
			}
			continue
		}
		out.Warnings = append(out.Warnings, e.Message)
		if worst == nil || outcomeRank(e) > outcomeRank(worst) || outcomeRank(e) == outcomeRank(worst) && e.RetryAfter > worst.RetryAfter {
			worst = e
		}
	}
	if len(out.Delivered) > 0 {
		return out, nil
	}
	return nil, worst
}

func outcomeRank(e *errs.Error) int {
	switch notify.OutcomeOf(e) {
	case notify.Uncertain:
		return 2
	case notify.Retryable:
		return 1
	}
	return 0
}

func unionParts(all, more []notify.Part) []notify.Part {
	seen := map[notify.Part]bool{}
	for _, p := range all {
		seen[p] = true
	}
	for _, p := range more {
		if !seen[p] {
			all = append(all, p)
		}
	}
	return all
}

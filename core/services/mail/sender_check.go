package mail

import (
	"context"
	"encoding/json"
	"net"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"
	"golang.org/x/sync/errgroup"

	"github.com/patchbay-dev/patchbay/core/event"
	"github.com/patchbay-dev/patchbay/core/services/mail/authresult"
	"github.com/patchbay-dev/patchbay/core/services/mail/message"
)

const (
	// senderChecks is how many messages are checked at once.
	senderChecks = 8
	// senderBatch is how many results one transaction stores at most.
	senderBatch = 64
	// senderPause is how long further messages are waited for, so that they are checked together.
	senderPause = 100 * time.Millisecond
	// senderPoll is how often unchecked messages are looked for when nothing new arrives.
	senderPoll = time.Minute
)

// senderChecker checks who has sent messages, after they are durable. What is left unchecked when the process ends is checked
// at the next start.
type senderChecker struct {
	messages *message.Store
	checker  *authresult.Checker
	log      hclog.Logger
	now      func() time.Time

	wake   chan struct{}
	ctx    context.Context
	cancel context.CancelFunc
	done   sync.WaitGroup
}

func newSenderChecker(messages *message.Store, checker *authresult.Checker, log hclog.Logger, now func() time.Time) *senderChecker {
	c := &senderChecker{messages: messages, checker: checker, log: log, now: now, wake: make(chan struct{}, 1)}
	c.ctx, c.cancel = context.WithCancel(context.Background())
	return c
}

func (c *senderChecker) start() { c.done.Go(c.run) }

// close ends the checks under way.
func (c *senderChecker) close() {
	c.cancel()
	c.done.Wait()
}

// wakeUp has new messages checked soon.
func (c *senderChecker) wakeUp() {
	select {
	case c.wake <- struct{}{}:
	default:
	}
}

// run checks messages until close.
func (c *senderChecker) run() {
	for c.ctx.Err() == nil {
		n, err := c.checkSome()
		if err != nil && c.ctx.Err() == nil {
			c.log.Error("cannot check senders", "error", err)
		}
		if err == nil && n == senderBatch {
			continue
		}
		select {
		case <-c.wake:
			_ = event.Sleep(c.ctx, senderPause) // more may come
		case <-time.After(senderPoll):
		case <-c.ctx.Done():
		}
	}
}

// checkSome checks some messages side by side and returns how many.
func (c *senderChecker) checkSome() (int, error) {
	found, err := c.messages.Unchecked(c.ctx, senderBatch)
	if err != nil {
		return 0, err
	}
	results, checker := make([]string, len(found)), c.checker.Shared()
	var all errgroup.Group
	all.SetLimit(senderChecks)
	for i, m := range found {
		all.Go(func() error {
			results[i] = c.encodeResult(checker, m)
			return nil
		})
	}
	_ = all.Wait()
	if c.ctx.Err() != nil {
		return 0, c.ctx.Err()
	}
	if len(found) == 0 {
		return 0, nil
	}
	return len(found), c.messages.SetAuth(c.ctx, found, c.now(), results)
}

// encodeResult checks the sender of a message, and returns the result as JSON.
func (c *senderChecker) encodeResult(checker *authresult.Checker, m message.Stored) string {
	result := checker.Check(c.ctx, authresult.Message{
		Client: net.ParseIP(m.Client), Helo: m.Helo, EnvelopeFrom: m.EnvelopeFrom, From: m.FromAddress, Unsigned: !m.Signed,
		Open: c.messages.OpenRaw(c.ctx, m),
	})
	// A Result has no part that cannot be encoded.
	text, _ := json.Marshal(result)
	return string(text)
}

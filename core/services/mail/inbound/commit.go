package inbound

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/services/mail/message"
	"github.com/patchbay-dev/patchbay/core/store"
)

// The bounds of one transaction.
const (
	maxBatch      = 64
	maxBatchBytes = 32 << 20
)

// errClosed is the error of mail that comes while the service stops.
var errClosed = errors.New("the mail service is stopping")

// errAllGone is the error of mail whose recipients were all destroyed since they were named.
var errAllGone = fault.New(fault.NotFound, "There is no mailbox with this address.")

// errSomeGone is the error of mail of which some recipients cannot be given a mailbox any more. Its sender tries again, and is told
// then which they are.
var errSomeGone = errors.New("a recipient has gone since it was named")

// worthwhile is how many messages are written while the messages before them wait for the disk. Fewer wait until those are durable: a
// transaction costs more than the messages in it, and the disk is slower while something is written.
const worthwhile = 16

// forgetDelay is how long a delivery whose answer was seen waits for the transaction of another message.
const forgetDelay = time.Millisecond

// committer stores messages that arrive at about the same time in one transaction: those that come while one transaction is written, or
// waits for the disk, make up the next.
type committer struct {
	cfg     *Config
	answers *answers
	queue   chan *pending
	closing chan struct{}
	done    chan struct{}
	once    sync.Once
}

// pending is a message that waits for its transaction.
type pending struct {
	in *message.Incoming
	to []Recipient
	// key is that of the delivery, nil if it cannot be repeated; answer is the answer to it by SMTP. repeated is set if it was stored before.
	key      []byte
	answer   *Answer
	repeated bool
	// there are the recipients with a mailbox in the present transaction.
	there  []Recipient
	out    []Delivered
	stored []message.Stored
	err    error
	done   chan struct{}
}

func newCommitter(cfg *Config, answers *answers) *committer {
	c := &committer{cfg: cfg, answers: answers, queue: make(chan *pending), closing: make(chan struct{}), done: make(chan struct{})}
	go c.runTransactions()
	return c
}

// close ends the committer after the transactions under way.
func (c *committer) close() {
	c.once.Do(func() { close(c.closing) })
	<-c.done
}

// storeMessage stores a message and waits until it is durable. The end of ctx does not undo a transaction that has begun.
func (c *committer) storeMessage(ctx context.Context, p *pending) ([]Delivered, error) {
	p.done = make(chan struct{})
	select {
	case c.queue <- p:
	case <-c.closing:
		return nil, errClosed
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	<-p.done
	return p.out, p.err
}

// runTransactions writes one transaction after the other.
func (c *committer) runTransactions() {
	defer close(c.done)
	// gathered are the messages that make up the next transaction, written those whose transaction has ended.
	var gathered, written []*pending
	// durable gets a signal when the messages that wait for the disk are durable. There are some while syncing is true.
	durable, syncing := make(chan struct{}), false
	// idle fires when deliveries are to be forgotten and no message has come that would have done it.
	var idle <-chan time.Time
	defer c.forgetDeliveries()
	for closing := c.closing; closing != nil || syncing || len(gathered) > 0; {
		if gathered = c.collectWaiting(gathered); len(gathered) > 0 && (!syncing || isWorthwhile(gathered)) {
			c.writeBatch(gathered)
			written, gathered = append(written, gathered...), nil
		}
		if !syncing && len(written) > 0 {
			syncing = true
			go func(batch []*pending) {
				c.finishBatch(batch)
				durable <- struct{}{}
			}(written)
			written = nil
		}
		select {
		case p := <-c.queue:
			gathered = append(gathered, p)
		case <-durable:
			syncing = false
		case <-c.answers.changed:
			idle = time.After(forgetDelay)
		case <-idle:
			c.forgetDeliveries()
		case <-closing:
			closing = nil
		}
	}
}

// isWorthwhile reports whether a batch is written while others wait for the disk.
func isWorthwhile(batch []*pending) bool {
	return len(batch) >= worthwhile || sumSizes(batch) >= maxBatchBytes
}

// sumSizes returns the size of the messages in a batch, in bytes.
func sumSizes(batch []*pending) (size int64) {
	for _, p := range batch {
		size += p.in.Message.Size
	}
	return size
}

// collectWaiting returns a batch with the messages that wait beside it.
func (c *committer) collectWaiting(batch []*pending) []*pending {
	for len(batch) < maxBatch && sumSizes(batch) < maxBatchBytes {
		select {
		case p := <-c.queue:
			batch = append(batch, p)
		default:
			return batch
		}
	}
	return batch
}

// finishBatch waits until messages are durable, passes them on and tells their senders.
func (c *committer) finishBatch(batch []*pending) {
	err := c.cfg.Store.SyncToDisk()
	for _, p := range batch {
		if p.err == nil {
			p.err = err
		}
	}
	c.announceStored(batch)
	for _, p := range batch {
		close(p.done)
	}
}

// writeBatch stores messages. If the transaction fails, each gets one of its own.
func (c *committer) writeBatch(batch []*pending) {
	err := c.writeTransaction(batch)
	if err != nil && len(batch) > 1 {
		for _, p := range batch {
			p.err = c.writeTransaction([]*pending{p})
		}
	} else {
		for _, p := range batch {
			p.err = err
		}
	}
}

// makeMailboxes makes the mailboxes that the recipients of a message do not have yet.
func (c *committer) makeMailboxes(ctx context.Context, p *pending) error {
	for _, r := range p.to {
		if r.MailboxID == "" {
			var err error
			if r, err = c.cfg.Recipients.MakeRecipient(ctx, r.Address); err != nil && isUnknownRecipient(err) {
				continue
			} else if err != nil {
				return err
			}
		}
		p.there = append(p.there, r)
	}
	if len(p.there) > 0 && CountPlanned(p.to) > 0 && len(p.there) < len(p.to) {
		return errSomeGone
	}
	return nil
}

// setReceived notes that the mailboxes of messages have got some, and returns those that there still are.
func (c *committer) setReceived(ctx context.Context, batch []*pending, at time.Time) (active map[string]bool, err error) {
	active = map[string]bool{}
	for _, p := range batch {
		for _, r := range p.there {
			active[r.MailboxID] = false
		}
	}
	if len(active) == 0 {
		return active, nil
	}
	found, err := c.cfg.Mailboxes.SetReceived(ctx, slices.Sorted(maps.Keys(active)), at)
	for _, id := range found {
		active[id] = true
	}
	return active, err
}

// storePending stores one message, with its delivery, for those of its recipients whose mailboxes are active.
func (c *committer) storePending(ctx context.Context, p *pending, at time.Time, active map[string]bool) error {
	var to []message.Delivery
	var there []Recipient
	for _, r := range p.there {
		if active[r.MailboxID] {
			to, there = append(to, message.Delivery(r)), append(there, r)
		}
	}
	if len(to) == 0 {
		return errAllGone
	}
	stored, err := c.cfg.Messages.Add(ctx, p.in, to, at)
	if err != nil {
		return err
	}
	receipt := newReceipt(p)
	for i, m := range stored {
		p.addStored(there[i], m)
		receipt.AddMessage(m.MailboxID, m.ID)
	}
	if p.key == nil {
		return nil
	}
	receipt.ReceivedAt = store.Millis(at)
	p.answer.setDelivery(receipt.ID)
	return c.cfg.Messages.AddReceipt(ctx, receipt)
}

// newReceipt returns the delivery of a message, without an id if it cannot be repeated.
func newReceipt(p *pending) (r message.Receipt) {
	if p.key != nil {
		r.ID, r.Key = store.NewID("dlv"), p.key
	}
	return r
}

// addStored notes what became of the message for a recipient.
func (p *pending) addStored(to Recipient, m message.Stored) {
	p.out = append(p.out, Delivered{to, m.ID})
	p.stored = append(p.stored, m)
}

// announceStored passes on what was stored.
func (c *committer) announceStored(batch []*pending) {
	var all []message.Stored
	for _, p := range batch {
		if p.err == nil {
			all = append(all, p.stored...)
		}
	}
	if len(all) > 0 {
		c.cfg.Stored(all)
	}
}

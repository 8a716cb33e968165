package inbound

import (
	"context"

	"github.com/patchbay-dev/patchbay/core/services/mail/message"
)

// reset forgets what a former try of the transaction has done.
func (p *pending) reset() {
	p.there, p.out, p.stored, p.repeated = nil, nil, nil, false
	p.answer.setDelivery("")
}

// writeAlone stores a batch of one message for one recipient by one statement, if that can be done. It reports false if it has stored
// nothing.
func (c *committer) writeAlone(batch []*pending) (bool, error) {
	p := batch[0]
	p.reset()
	if c.cfg.AddAlone == nil || p.key == nil || len(batch) > 1 || len(p.to) != 1 || p.to[0].MailboxID == "" {
		return false, nil
	}
	forget, receipt := c.answers.toForget(), newReceipt(p)
	m, done, err := c.cfg.AddAlone(context.Background(), p.in, message.Delivery(p.to[0]), receipt, forget, c.cfg.Now())
	if done {
		p.addStored(p.to[0], m)
		p.answer.setDelivery(receipt.ID)
		c.answers.forgetDeliveries(forget)
	}
	return done || err != nil, err
}

// writeTransaction stores messages in one transaction, and forgets the deliveries whose answers were seen.
func (c *committer) writeTransaction(batch []*pending) error {
	// Those who wait have begun before: the transaction ends by itself, whoever leaves.
	if done, err := c.writeAlone(batch); done {
		return err
	}
	forget := c.answers.toForget()
	err := c.cfg.Store.Tx(context.Background(), "store mail", func(ctx context.Context) error {
		if err := c.cfg.Messages.DeleteReceipts(ctx, forget); err != nil {
			return err
		}
		return c.storeBatch(ctx, batch)
	})
	if err == nil {
		c.answers.forgetDeliveries(forget)
		return nil
	}
	for _, p := range batch {
		p.reset()
	}
	return err
}

// storeBatch stores messages in the running transaction.
func (c *committer) storeBatch(ctx context.Context, batch []*pending) error {
	if err := c.cfg.Messages.HoldOrder(ctx); err != nil {
		return err
	}
	at := c.cfg.Now()
	for _, p := range batch {
		p.reset()
		if err := c.makeMailboxes(ctx, p); err != nil {
			return err
		}
	}
	active, err := c.setReceived(ctx, batch, at)
	if err != nil {
		return err
	}
	for _, p := range batch {
		if err := c.findFirst(ctx, p); err != nil {
			return err
		}
		if p.repeated {
			continue
		}
		if err := c.storePending(ctx, p, at, active); err != nil {
			return err
		}
		if len(p.stored) > 0 {
			c.cfg.Within(ctx, p.stored)
		}
	}
	return nil
}

// findFirst looks for the delivery that a message repeats. Its messages stand for those of the repetition.
func (c *committer) findFirst(ctx context.Context, p *pending) error {
	if p.key == nil {
		return nil
	}
	known, err := c.cfg.Messages.FindReceipts(ctx, p.key, c.cfg.Now().Add(-message.RepeatTime))
	if err != nil {
		return err
	}
	for _, first := range known {
		if p.answer != nil && !c.answers.isLost(first.ID) {
			continue
		}
		p.repeated = true
		p.answer.setDelivery(first.ID)
		left := first.MessageIDs()
		for _, r := range p.there {
			id := ""
			if ids := left[r.MailboxID]; len(ids) > 0 {
				id, left[r.MailboxID] = ids[0], ids[1:]
			}
			p.out = append(p.out, Delivered{r, id})
		}
		return nil
	}
	return nil
}

// forgetDeliveries deletes the deliveries whose answers were seen. Where it fails, the next transaction does it.
func (c *committer) forgetDeliveries() {
	forget := c.answers.toForget()
	if len(forget) == 0 {
		return
	}
	err := c.cfg.Store.Tx(context.Background(), "forget deliveries",
		func(ctx context.Context) error { return c.cfg.Messages.DeleteReceipts(ctx, forget) })
	if err != nil {
		c.cfg.Logger.Warn("cannot delete old deliveries", "error", err)
		return
	}
	c.answers.forgetDeliveries(forget)
}

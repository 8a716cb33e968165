package domain

import (
	"cmp"
	"context"
)

// addMissingRules makes the rules of the registered mailboxes that have none. A rule of somebody else for one of the addresses does not
// keep the other mailboxes from getting theirs; it is the error.
func (a *catchAlls) addMissingRules(ctx context.Context, row *Domain) error {
	missing, err := a.cfg.Mailboxes.ListUnrouted(ctx, row.ID)
	if err != nil {
		return err
	}
	enabled := map[string]bool{row.Name: true}
	var foreign error
	for _, box := range missing {
		err := a.addMissingRule(ctx, *row, box, enabled)
		if err != nil && !isForeignRule(err) {
			return err
		}
		foreign = cmp.Or(foreign, err)
	}
	return foreign
}

// addMissingRule makes the rule of a mailbox. Before its id is known, the request is noted: the rule goes with the mailbox also if the
// answer of the provider is lost.
func (a *catchAlls) addMissingRule(ctx context.Context, row Domain, box Unrouted, enabled map[string]bool) error {
	if needed, err := a.beginRule(ctx, box); err != nil || !needed {
		return err
	}
	ruleID, err := a.addRoute(ctx, row, box.Address, enabled)
	if err != nil && !IsDeclined(err) {
		return err
	}
	return cmp.Or(a.endRule(ctx, box.ID, ruleID), err)
}

// beginRule is BeginRule of the mailboxes in a transaction of its own.
func (a *catchAlls) beginRule(ctx context.Context, box Unrouted) (needed bool, err error) {
	err = a.cfg.Store.Tx(ctx, "begin the rule of a mailbox", func(ctx context.Context) error {
		needed, err = a.cfg.Mailboxes.BeginRule(ctx, box.ID)
		return err
	})
	return needed, err
}

// endRule is EndRule of the mailboxes in a transaction of its own.
func (a *catchAlls) endRule(ctx context.Context, mailboxID, ruleID string) error {
	at := a.cfg.Now()
	return a.cfg.Store.Tx(ctx, "note the rule of a mailbox",
		func(ctx context.Context) error { return a.cfg.Mailboxes.EndRule(ctx, mailboxID, ruleID, at) })
}

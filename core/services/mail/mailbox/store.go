package mailbox

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"github.com/patchbay-dev/patchbay/core/services/mail/domain"
	"github.com/patchbay-dev/patchbay/core/store"
)

// Store holds the queries about mailboxes. It decides nothing.
type Store struct {
	store *store.Store
	// receiverByAddress is the text of the statement that runs for each recipient.
	receiverByAddress string
}

// NewStore makes the store. The migrations of the service have run.
func NewStore(s *store.Store) *Store {
	return &Store{store: s, receiverByAddress: s.Dialect().Bind("SELECT id, owner_id, address, status, expires_at, destroyed_at FROM mail_mailboxes WHERE address = ? AND status <> 'destroyed'")}
}

// FindMailbox returns a mailbox in any state by its id.
func (s *Store) FindMailbox(ctx context.Context, id string) (Mailbox, error) {
	return s.takeWithTags(ctx, s.store.DB(ctx).Where("id = ?", id))
}

// lockMailbox is FindMailbox in a transaction, which nobody else may change the mailbox before the end of.
func (s *Store) lockMailbox(ctx context.Context, id string) (Mailbox, error) {
	return s.takeWithTags(ctx, s.store.Writer(ctx).Clauses(clause.Locking{Strength: "UPDATE"}).Where("id = ?", id))
}

// findByAddress returns the mailbox with an address that is not destroyed. It reports false if there is none.
func (s *Store) findByAddress(ctx context.Context, addr string) (Mailbox, bool, error) {
	m, err := s.takeWithTags(ctx, s.store.DB(ctx).Where("address = ? AND status <> 'destroyed'", addr))
	if errors.Is(err, errNoMailbox) {
		return Mailbox{}, false, nil
	}
	return m, err == nil, err
}

// findReceiver is findByAddress for mail that arrives: with what says where it goes, and no more. It goes past gorm, which would take
// longer than the database, and does not watch ctx.
func (s *Store) findReceiver(ctx context.Context, addr string) (m Mailbox, found bool, err error) {
	row := s.store.DB(ctx).Statement.ConnPool.QueryRowContext(context.WithoutCancel(ctx), s.receiverByAddress, addr)
	err = row.Scan(&m.ID, &m.OwnerID, &m.Address, &m.Status, &m.ExpiresAt, &m.DestroyedAt)
	if errors.Is(err, sql.ErrNoRows) {
		return Mailbox{}, false, nil
	}
	return m, err == nil, err
}

func (s *Store) takeWithTags(ctx context.Context, q *gorm.DB) (m Mailbox, err error) {
	if err = q.Take(&m).Error; err != nil {
		if errors.Is(err, gorm.ErrRecordNotFound) {
			err = errNoMailbox
		}
		return m, err
	}
	rows := []Mailbox{m}
	err = s.loadTags(ctx, rows)
	return rows[0], err
}

// loadTags fills in the tags of mailboxes, of which there are no more than a page. Their ids are parameters of their own: of a list in one
// parameter PostgreSQL expects so many that it would rather read all tags.
func (s *Store) loadTags(ctx context.Context, boxes []Mailbox) error {
	ids, at := make([]string, len(boxes)), make(map[string]int, len(boxes))
	for i := range boxes {
		boxes[i].Tags, ids[i], at[boxes[i].ID] = []string{}, boxes[i].ID, i
	}
	var tags []tag
	if err := s.store.DB(ctx).Where("mailbox_id IN ?", ids).Order("mailbox_id, position").Find(&tags).Error; err != nil {
		return err
	}
	for _, t := range tags {
		b := &boxes[at[t.MailboxID]]
		b.Tags = append(b.Tags, t.Tag)
	}
	return nil
}

// insertMailbox adds a mailbox with its tags in the running transaction. It reports false if the address is taken.
func (s *Store) insertMailbox(ctx context.Context, m *Mailbox) (bool, error) {
	done := s.store.Writer(ctx).Clauses(clause.OnConflict{DoNothing: true}).Create(m)
	if done.Error != nil || done.RowsAffected == 0 {
		return false, done.Error
	}
	return true, s.replaceTags(ctx, m.ID, m.Tags)
}

// updateMailbox writes columns of a mailbox in the running transaction.
func (s *Store) updateMailbox(ctx context.Context, id string, values map[string]any) error {
	return s.store.Writer(ctx).Model(&Mailbox{}).Where("id = ?", id).Updates(values).Error
}

// deleteReservation takes back a mailbox that was never in use, in the running transaction.
func (s *Store) deleteReservation(ctx context.Context, id string) error {
	if err := s.replaceTags(ctx, id, nil); err != nil {
		return err
	}
	return s.store.Writer(ctx).Where("id = ? AND status = ?", id, Destroying).Delete(&Mailbox{}).Error
}

// replaceTags gives a mailbox other tags, in the running transaction.
func (s *Store) replaceTags(ctx context.Context, id string, tags []string) error {
	w := s.store.Writer(ctx)
	if err := w.Where("mailbox_id = ?", id).Delete(&tag{}).Error; err != nil || len(tags) == 0 {
		return err
	}
	rows := make([]tag, len(tags))
	for i, t := range tags {
		rows[i] = tag{MailboxID: id, Tag: t, Position: i}
	}
	return w.Create(&rows).Error
}

// UpdateReceived is the beginning of the statement that notes the receipt of messages, at a time that is given twice.
const UpdateReceived = "UPDATE mail_mailboxes SET received_at = CASE WHEN received_at < ? THEN ? ELSE received_at END WHERE status = 'active' AND id "

// SetReceived notes that messages for some mailboxes have come, in the running transaction, and returns those that are active. No message
// may be stored for the others: they are gone, or being destroyed. It locks them as updateMany does.
func (s *Store) SetReceived(ctx context.Context, mailboxIDs []string, at time.Time) (active []string, err error) {
	ms, in := store.Millis(at), "IN ?"
	if s.store.Dialect() != store.Postgres {
		return s.setReceivedEach(ctx, mailboxIDs, ms)
	}
	if len(mailboxIDs) > 1 {
		in = "IN (SELECT id FROM mail_mailboxes WHERE id IN ? ORDER BY id FOR NO KEY UPDATE)"
	}
	err = s.store.Writer(ctx).Raw(UpdateReceived+in+" RETURNING id", ms, ms, mailboxIDs).Scan(&active).Error
	return active, err
}

// setReceivedEach is SetReceived on SQLite, by a statement for each mailbox: one that returns something keeps a copy of each page that it
// changes, which takes longer.
func (s *Store) setReceivedEach(ctx context.Context, mailboxIDs []string, ms int64) (active []string, err error) {
	for _, id := range mailboxIDs {
		done := s.store.Writer(ctx).Exec(UpdateReceived+"= ?", ms, ms, id)
		if done.Error != nil {
			return nil, done.Error
		}
		if done.RowsAffected > 0 {
			active = append(active, id)
		}
	}
	return active, nil
}

// CountLive returns how many mailboxes of a domain are not destroyed.
func (s *Store) CountLive(ctx context.Context, domainID string) (n int64, err error) {
	err = s.store.DB(ctx).Model(&Mailbox{}).Where("domain_id = ? AND status <> 'destroyed'", domainID).Count(&n).Error
	return n, err
}

// lockOwner keeps others that lock the same user from going on before the end of the running transaction, so that what is counted stays
// true. On SQLite transactions run one after the other anyway.
func (s *Store) lockOwner(ctx context.Context, userID string) error {
	if s.store.Dialect() != store.Postgres {
		return nil
	}
	return s.store.Writer(ctx).Exec("SELECT pg_advisory_xact_lock(hashtext(?))", "mail_mailboxes/"+userID).Error
}

// countOwned returns how many mailboxes of a user are not destroyed.
func (s *Store) countOwned(ctx context.Context, userID string) (n int64, err error) {
	err = s.store.DB(ctx).Model(&Mailbox{}).Where("owner_id = ? AND status <> 'destroyed'", userID).Count(&n).Error
	return n, err
}

// listDue returns the mailboxes whose destruction is due, and destroyed ones that are to be looked at again, those that have waited
// longest first.
func (s *Store) listDue(ctx context.Context, now time.Time, limit int) (out []Mailbox, err error) {
	err = s.store.DB(ctx).Where("status IN ('destroying', 'destroyed') AND cleanup_at > 0 AND cleanup_at <= ?",
		now.UnixMilli()).Order("cleanup_at, id").Limit(limit).Find(&out).Error
	if err != nil || len(out) == limit {
		return out, err
	}
	var expired []Mailbox
	err = s.store.DB(ctx).Where("status = 'active' AND expires_at > 0 AND expires_at <= ?",
		now.Add(-keepExpired).UnixMilli()).Order("expires_at, id").Limit(limit - len(out)).Find(&expired).Error
	return append(out, expired...), err
}

// ListCleanupFailures returns, for each domain that has some, the mailboxes whose destruction, or a later look for their rule, has
// failed. That is tried again.
func (s *Store) ListCleanupFailures(ctx context.Context) (out []CleanupFailure, err error) {
	err = s.store.DB(ctx).Model(&Mailbox{}).Select("domain_id, COUNT(*) AS mailboxes, MAX(cleanup_error) AS error").
		Where("cleanup_at > 0 AND cleanup_error <> ''").Group("domain_id").Order("domain_id").Scan(&out).Error
	return out, err
}

// ListUnrouted returns the registered mailboxes of a domain that receive without a rule that is known.
func (s *Store) ListUnrouted(ctx context.Context, domainID string) (out []domain.Unrouted, err error) {
	err = s.store.DB(ctx).Model(&Mailbox{}).Select("id, address").Where(isLive+" AND domain_id = ? AND source = ? AND status = ? AND rule_id = ''", domainID, Registered, Active).Order("id").Scan(&out).Error
	return out, err
}

// BeginRule notes, in the running transaction, that the provider is asked to make the rule of an active mailbox, which may exist from now
// on. It reports false if the mailbox needs none: it is not active any more, or has a rule that is known.
func (s *Store) BeginRule(ctx context.Context, mailboxID string) (needed bool, err error) {
	done := s.store.Writer(ctx).Model(&Mailbox{}).Where("id = ? AND status = ? AND rule_id = ''", mailboxID, Active).
		Update("rule_requests", gorm.Expr("rule_requests + 1"))
	return done.RowsAffected > 0, done.Error
}

// addRuleRequests notes more requests for the rule of a mailbox, in the running transaction.
func (s *Store) addRuleRequests(ctx context.Context, id string, n int) error {
	return s.updateMailbox(ctx, id, map[string]any{"rule_requests": gorm.Expr("rule_requests + ?", n)})
}

// EndRule notes, in the running transaction, how such a request has ended: with a rule, or for "" without one. What is known of other
// requests stays. The rule of a mailbox that is not active any more is left to the clean-up, which looks for it when it does anyway, or
// from a time on if it would not: nobody else can have the address, and the rule with it, while the clean-up looks for the rule and
// deletes it.
func (s *Store) EndRule(ctx context.Context, mailboxID, ruleID string, at time.Time) error {
	changes := map[string]any{"rule_requests": gorm.Expr("CASE WHEN rule_requests > 0 THEN rule_requests - 1 ELSE 0 END")}
	if ruleID == "" {
		return s.updateMailbox(ctx, mailboxID, changes)
	}
	changes["rule_id"] = ruleID
	done := s.store.Writer(ctx).Model(&Mailbox{}).Where("id = ? AND status = ?", mailboxID, Active).Updates(changes)
	if done.Error != nil || done.RowsAffected > 0 {
		return done.Error
	}
	return s.updateMailbox(ctx, mailboxID, map[string]any{
		// One more tells who destroys the mailbox at present that the rule may have been made since the look for it.
		"rule_requests": gorm.Expr("CASE WHEN rule_requests > 0 AND status <> ? THEN rule_requests ELSE rule_requests + 1 END", Destroying),
		"cleanup_at":    gorm.Expr("CASE WHEN cleanup_at > 0 THEN cleanup_at ELSE ? END", store.Millis(at)),
	})
}

// ForgetRules makes the rules of the mailboxes of a domain unknown to us, in the running transaction.
func (s *Store) ForgetRules(ctx context.Context, domainID string) error {
	return s.updateMany(ctx, "domain_id = ? AND (rule_id <> '' OR rule_requests > 0)",
		domainID).Updates(map[string]any{"rule_id": "", "rule_requests": 0}).Error
}

// ExpireCaught ends the time of the mailboxes that the catch-all of a domain has made, in the running transaction.
func (s *Store) ExpireCaught(ctx context.Context, domainID string, at time.Time) error {
	return s.updateMany(ctx, isLive+" AND domain_id = ? AND source = ? AND status = ?", domainID, CatchAll, Active).Update("expires_at",
		at.UnixMilli()).Error
}

// updateMany returns an update of the mailboxes that a condition selects, which it locks in the order of their ids. PostgreSQL would lock
// them in the order in which it finds them, so that two transactions could wait for each other.
func (s *Store) updateMany(ctx context.Context, condition string, args ...any) *gorm.DB {
	w := s.store.Writer(ctx)
	ids := w.Model(&Mailbox{}).Select("id").Where(condition, args...).Order("id").Clauses(clause.Locking{Strength: "NO KEY UPDATE"})
	return w.Model(&Mailbox{}).Where("id IN (?)", ids)
}

// countCaught returns how many mailboxes that the catch-all of a domain has made are not destroyed.
func (s *Store) countCaught(ctx context.Context, domainID string) (n int64, err error) {
	err = s.store.DB(ctx).Model(&Mailbox{}).Where("domain_id = ? AND source = ? AND status <> 'destroyed'", domainID, CatchAll).Count(&n).Error
	return n, err
}

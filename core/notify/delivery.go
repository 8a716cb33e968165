package notify

import (
	"context"
	"fmt"
	"time"

	"gorm.io/gorm/clause"

	"github.com/patchbay-dev/patchbay/core/event"
	"github.com/patchbay-dev/patchbay/core/store"
)

// updateDelivery stores values of a delivery that is not final.
func (s *Sender) updateDelivery(ctx context.Context, id string, values map[string]any) error {
	err := s.cfg.Store.QueueTx(ctx, "mark delivery", func(ctx context.Context) error {
		return s.cfg.Store.Writer(ctx).Model(&delivery{}).Where("id = ? AND state IN ?", id, []State{Waiting, Sending}).Updates(values).Error
	})
	if err != nil {
		return fmt.Errorf("mark the delivery: %w", err)
	}
	return nil
}

// maxError bounds the errors and warnings that are stored, in bytes.
const maxError = 1000

// endDelivery stores a final state and tells the owner of the message. If that fails, the outcome is pending and
// written by the next run of the job.
func (s *Sender) endDelivery(ctx context.Context, d *delivery, state State, reason string, warnings []string) error {
	next := *d
	next.State, next.Error, next.Warnings, next.EndedAt = state, boundedText(reason), warnings, store.Millis(s.cfg.Now())
	err := s.cfg.Store.QueueTx(ctx, "end delivery", func(ctx context.Context) error {
		if err := s.lockMessage(ctx, d.MessageID); err != nil {
			return err
		}
		done := s.cfg.Store.Writer(ctx).Where("id = ? AND state IN ?", d.ID, []State{Waiting, Sending}).
			Select("state", "error", "warnings", "ended_at").Updates(&next)
		if done.Error != nil || done.RowsAffected == 0 {
			return done.Error
		}
		s.cfg.Store.AfterCommit(ctx, func() {
			s.relay.Publish(topicEnded, event.Event{Type: string(state), Data: d.MessageID})
			if s.cfg.Ended != nil {
				s.cfg.Ended(d.Channel, state)
			}
		})
		if s.channels != nil && d.gone {
			if err := s.channels.RecipientGone(ctx, d.toRecipient()); err != nil {
				return err
			}
		}
		if o := s.owners[d.Service]; o != nil {
			return o.Ended(ctx, next.toDelivery())
		}
		return nil
	})
	if err != nil {
		s.pending.saveOutcome(d.ID, pendingOutcome{state: state, reason: reason, warnings: warnings, gone: d.gone})
		return fmt.Errorf("end the delivery: %w", err)
	}
	s.pending.dropOutcome(d.ID)
	return nil
}

// lockMessage waits until no other delivery of a message is being ended, so that the owner sees the states of the
// others. The caller has a transaction.
func (s *Sender) lockMessage(ctx context.Context, messageID string) error {
	if s.cfg.Store.Dialect() != store.Postgres {
		return nil
	}
	var m []message
	return s.cfg.Store.Writer(ctx).Clauses(clause.Locking{Strength: "UPDATE"}).Select("id").Where("id = ?", messageID).Find(&m).Error
}

// orphanAge is the age from which an open delivery is checked for a job.
const orphanAge = time.Hour

// resubmitOrphans submits jobs for open deliveries whose job has ended without the outcome being stored. A delivery
// with a job keeps it.
func (s *Sender) resubmitOrphans(ctx context.Context) error {
	var open []delivery
	err := s.cfg.Store.DB(ctx).Where("ended_at = 0 AND created_at < ?",
		store.Millis(s.cfg.Now().Add(-orphanAge))).Order("id").Limit(maxRead).Find(&open).Error
	if err != nil {
		return fmt.Errorf("read the open deliveries: %w", err)
	}
	for i := range open {
		if err := s.submitJob(ctx, &open[i]); err != nil {
			return err
		}
	}
	return nil
}

// purgeOld deletes messages, deliveries and alerts that ended before the retention.
func (s *Sender) purgeOld(ctx context.Context) error {
	if err := s.resubmitOrphans(ctx); err != nil {
		return err
	}
	s.gates.sweep(s.cfg.Now())
	before := store.Millis(s.cfg.Now().Add(-s.cfg.Retention))
	return s.cfg.Store.QueueTx(ctx, "delete old deliveries", func(ctx context.Context) error {
		w := s.cfg.Store.Writer(ctx)
		if err := w.Where("ended_at > 0 AND ended_at < ?", before).Delete(&delivery{}).Error; err != nil {
			return err
		}
		if err := w.Exec("DELETE FROM notify_pauses WHERE until_at < ?", store.Millis(s.cfg.Now().Add(-forgetAfter))).Error; err != nil {
			return err
		}
		err := w.Where("created_at < ? AND NOT EXISTS (SELECT 1 FROM notify_deliveries WHERE message_id = notify_messages.id)",
			before).Delete(&message{}).Error
		if err != nil {
			return err
		}
		return w.Where("active = ? AND told_at < ?", false, before).Delete(&alertRecord{}).Error
	})
}

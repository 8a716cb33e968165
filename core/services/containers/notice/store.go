package notice

import (
	"context"
	"slices"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"github.com/patchbay-dev/patchbay/core/notify"
	"github.com/patchbay-dev/patchbay/core/services/containers/record"
)

// The states of the news of one new version. Those that are pending or sent keep the same news from being told again.
const (
	noticePending    = "pending"
	noticeSent       = "sent"
	noticeSuperseded = "superseded"
	noticeFailed     = "failed"
)

// noticeRecord is the news that a service has one new version.
type noticeRecord struct {
	ID        string `gorm:"primaryKey"`
	ServiceID string
	JobID     string
	Reason    string
	// MessageID is that of the message that tells it, with others of the same job.
	MessageID           string
	ImageRef            string
	ImageTag            string
	CurrentTag          string
	CurrentDisplayTag   string
	CandidateTag        string
	CandidateDisplayTag string
	CandidateDigest     string
	Status              string
	SentChannels        []string `gorm:"serializer:json"`
	CreatedAt           int64    `gorm:"autoCreateTime:false"`
	SentAt              int64
	SupersededAt        int64
	LastError           string
}

// TableName implements gorm's Tabler.
func (noticeRecord) TableName() string { return "containers_new_versions" }

// noticeStore holds the queries about notices. It decides nothing.
type noticeStore struct{ *record.Store }

// storeNewNotices inserts the notices that are not yet stored, and returns them.
func (r *noticeStore) storeNewNotices(ctx context.Context, rows []noticeRecord) (fresh []noticeRecord, err error) {
	err = r.Write(ctx, "reserve notices", func(_ context.Context, w *gorm.DB) error {
		fresh = nil
		for _, row := range rows {
			done := w.Clauses(clause.OnConflict{DoNothing: true}).Create(&row)
			if done.Error != nil {
				return done.Error
			}
			if done.RowsAffected > 0 {
				fresh = append(fresh, row)
			}
		}
		return nil
	})
	return fresh, err
}

// dropOutdatedNotices ends the pending notices whose version is no longer the candidate of its service.
func (r *noticeStore) dropOutdatedNotices(ctx context.Context, now int64) error {
	return r.Write(ctx, "supersede notices", func(_ context.Context, w *gorm.DB) error {
		return w.Model(&noticeRecord{}).Where(`status = ? AND NOT EXISTS (SELECT 1 FROM containers_services s
			WHERE s.id = containers_new_versions.service_id AND s.candidate_digest = containers_new_versions.candidate_digest)`, noticePending).
			Updates(map[string]any{"status": noticeSuperseded, "superseded_at": now}).Error
	})
}

// listMessageNotices returns the notices that a message tells.
func (r *noticeStore) listMessageNotices(ctx context.Context, messageID string) (rows []noticeRecord, err error) {
	err = r.DB(ctx).Where("message_id = ?", messageID).Order("id").Find(&rows).Error
	return rows, err
}

// isCurrent reports whether a message has no notices, or one whose version is still the candidate of its service.
func (r *noticeStore) isCurrent(ctx context.Context, messageID string) (bool, error) {
	var found struct{ News, Current int64 }
	err := r.DB(ctx).Raw(`SELECT COUNT(*) AS news, COUNT(s.id) AS current FROM containers_new_versions n LEFT JOIN containers_services s
		ON s.id = n.service_id AND s.candidate_digest = n.candidate_digest AND n.status <> ? WHERE n.message_id = ?`, noticeSuperseded, messageID).Scan(&found).Error
	return found.News == 0 || found.Current > 0, err
}

// endNotices records the outcome of one delivery in the notices of a message, and that of all once they have ended.
func (r *noticeStore) endNotices(ctx context.Context, d notify.Delivery, all []notify.Delivery, now int64) error {
	return r.Write(ctx, "end notices", func(ctx context.Context, w *gorm.DB) error {
		rows, err := r.listMessageNotices(ctx, d.MessageID)
		if err != nil {
			return err
		}
		open := slices.ContainsFunc(all, func(o notify.Delivery) bool { return o.ID != d.ID && !o.State.Final() })
		for _, row := range rows {
			row.recordDelivery(d, open, now)
			if err := w.Save(&row).Error; err != nil {
				return err
			}
		}
		return nil
	})
}

// recordDelivery records that a delivery has ended. What may have arrived counts as sent: it must not be told twice.
func (n *noticeRecord) recordDelivery(d notify.Delivery, open bool, now int64) {
	switch d.State {
	case notify.Delivered, notify.Unknown:
		if name := d.Recipient.Name; d.State == notify.Delivered && !slices.Contains(n.SentChannels, name) {
			n.SentChannels = append(n.SentChannels, name)
		}
		if n.Status == noticePending || n.Status == noticeSuperseded || n.Status == noticeFailed {
			n.SentAt = now
		}
		if n.Status == noticePending {
			n.Status = noticeSent
		}
	case notify.Failed:
		n.LastError = d.Error
	}
	if n.Status == noticePending && !open {
		n.Status = noticeFailed
	}
}

// purgeNotices deletes the news of before a time that is not the present candidate's: that must stay known.
func (r *noticeStore) purgeNotices(ctx context.Context, before int64) error {
	return r.Write(ctx, "delete old notices", func(_ context.Context, w *gorm.DB) error {
		return w.Where(`created_at < ? AND status <> ? AND NOT EXISTS (SELECT 1 FROM containers_services s
			WHERE s.id = containers_new_versions.service_id AND s.candidate_digest = containers_new_versions.candidate_digest)`, before, noticePending).
			Delete(&noticeRecord{}).Error
	})
}

// setMessage stores which message tells notices. The caller has a transaction.
func (r *noticeStore) setMessage(ctx context.Context, ids []string, messageID string) error {
	return r.Writer(ctx).Model(&noticeRecord{}).Where("id IN ?", ids).Update("message_id", messageID).Error
}

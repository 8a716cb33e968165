package sync

import (
	"context"

	"github.com/patchbay-dev/patchbay/core/services/releases/feed"
	"github.com/patchbay-dev/patchbay/core/store"
	"github.com/patchbay-dev/patchbay/core/texts"
	"github.com/patchbay-dev/patchbay/sdk/codehost"
	"gorm.io/gorm"
	"gorm.io/gorm/clause"
)

// setUnread has the notifications of an account be unread that are so at its host, and no others, in the running transaction.
func (s *State) setUnread(ctx context.Context, userID, accountID string, unread unreadList) error {
	of := func() *gorm.DB {
		return s.store.Writer(ctx).Model(&Notification{}).Where("user_id = ? AND account_id = ?", userID, accountID)
	}
	// Of the last time there may be others on the page that was not read.
	if err := store.WhereNotIn(of().Where("unread AND updated_at > ?", unread.from), "thread_id", unread.threads).Update("unread",
		false).Error; err != nil {
		return err
	}
	return store.WhereIn(of().Where("NOT unread"), "thread_id", unread.threads).Update("unread", true).Error
}

// saveNotifications stores notifications of an account of a user in the running transaction.
func (s *State) saveNotifications(ctx context.Context, userID, accountID string, all []codehost.Notification) error {
	for _, n := range all {
		row := Notification{
			UserID: userID, AccountID: accountID, ThreadID: texts.OneLine(n.ThreadID, maxText),
			RepoFullName: texts.OneLine(n.RepoFullName, maxText), SubjectTitle: texts.OneLine(n.Title, maxText),
			SubjectType: texts.OneLine(n.SubjectType, maxText), Reason: texts.OneLine(n.Reason, maxText), UpdatedAt: store.Millis(n.UpdatedAt),
			Unread: n.Unread, HTMLURL: texts.Limit(n.HTMLURL, maxURL),
		}
		if err := s.store.Writer(ctx).Clauses(clause.OnConflict{UpdateAll: true}).Create(&row).Error; err != nil {
			return err
		}
	}
	return nil
}

// ListNotifications returns the notifications of a user, the latest first.
func (s *State) ListNotifications(ctx context.Context, userID string, limit int) (found []Notification, err error) {
	err = s.store.DB(ctx).Where("user_id = ?", userID).Order("updated_at DESC, thread_id DESC").Limit(limit).Find(&found).Error
	return found, err
}

// NotificationMarkQuery returns the query for the marks of the latest notifications of a user.
func NotificationMarkQuery(userID string, limit int) feed.MarkQuery {
	const order = "updated_at DESC, thread_id DESC"
	column := feed.MarkColumn("updated_at || CASE WHEN unread THEN ' unread' ELSE ' read' END", "'notification:' || thread_id")
	rows := "SELECT " + column + ", updated_at, thread_id FROM release_notifications WHERE user_id = ? ORDER BY " + order + store.Limit(limit)
	return feed.MarkQuery{Parts: []feed.MarkPart{{Rows: rows, Order: order, Values: []any{userID}}}, Limit: limit}
}

// FindNotification returns a notification of a user, and false if there is no such one.
func (s *State) FindNotification(ctx context.Context, userID, threadID string) (n Notification, found bool, err error) {
	var rows []Notification
	err = s.store.DB(ctx).Where("user_id = ? AND thread_id = ?", userID, threadID).Find(&rows).Error
	if err != nil || len(rows) == 0 {
		return n, false, err
	}
	return rows[0], true, nil
}

// CountUnread returns how many notifications of a user are unread.
func (s *State) CountUnread(ctx context.Context, userID string) (n int64, err error) {
	err = s.store.DB(ctx).Model(&Notification{}).Where("user_id = ? AND unread", userID).Count(&n).Error
	return n, err
}

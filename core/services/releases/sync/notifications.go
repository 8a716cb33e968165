package sync

import (
	"context"
	"time"

	"github.com/patchbay-dev/patchbay/core/services/releases/account"
	"github.com/patchbay-dev/patchbay/core/store"
	"github.com/patchbay-dev/patchbay/core/texts"
	"github.com/patchbay-dev/patchbay/sdk/codehost"
)

const (
	notificationList = "notifications"
	// maxNotificationPages bounds the notifications that are read.
	maxNotificationPages = 20
	// maxPollInterval bounds how long the host may ask to be left alone.
	maxPollInterval = time.Hour
	maxText         = 500
	maxURL          = 2000
)

// Notification is a notification of a user as it is stored. UpdatedAt is in Unix milliseconds.
type Notification struct {
	UserID   string `gorm:"primaryKey"`
	ThreadID string `gorm:"primaryKey"`
	// AccountID is the account with which it was read.
	AccountID    string
	RepoFullName string
	SubjectTitle string
	SubjectType  string
	Reason       string
	UpdatedAt    int64 `gorm:"autoUpdateTime:false"`
	Unread       bool
	HTMLURL      string `gorm:"column:html_url"`
}

// TableName implements gorm's Tabler.
func (Notification) TableName() string { return "release_notifications" }

// NotificationsResult is what reading the notifications of a user has brought.
type NotificationsResult struct {
	// Notifications is how many were read, Since the time from which on, the earliest of all accounts; zero for all.
	Notifications int
	Since         time.Time
}

// notificationState is what was kept of a list of notifications.
type notificationState struct {
	Host       string              `json:"host"`
	Since      time.Time           `json:"since"`
	NotBefore  time.Time           `json:"not_before"`
	Validators codehost.Validators `json:"validators"`
}

// Notifications reads the notifications of a user that have changed since the last time.
func (s *Syncer) Notifications(ctx context.Context, userID string) (out NotificationsResult, err error) {
	first := true
	err = s.withAccounts(ctx, userID, readsInbox, func(c caller, _ account.Account) error {
		one, err := s.readNotifications(ctx, c)
		out.Notifications += one.Notifications
		if first || one.Since.Before(out.Since) {
			out.Since, first = one.Since, false
		}
		return err
	})
	return out, err
}

// readNotifications reads the notifications of one account that have changed since the last time.
func (s *Syncer) readNotifications(ctx context.Context, c caller) (out NotificationsResult, err error) {
	can, err := c.host.Abilities()
	if err != nil || !can.Notifications {
		return out, err
	}
	var known notificationState
	if _, err := s.cfg.State.read(ctx, c.accountID, notificationList, &known); err != nil {
		return out, err
	}
	since := known.Since
	now := s.cfg.Now()
	if known.Host != c.host.Ref || known.Since.After(now) { // also after a wrong clock
		known = notificationState{Host: c.host.Ref}
	}
	out.Since = known.Since
	if now.Before(known.NotBefore) && known.NotBefore.Sub(now) <= maxPollInterval {
		// The host asked not to be asked so soon.
		return out, nil
	}
	var all []codehost.Notification
	next := notificationState{Host: c.host.Ref, Since: now}
	ask := func(req codehost.PageRequest) (*codehost.Page[codehost.Notification], error) {
		return c.host.Account.ListNotifications(ctx, c.token, codehost.NotificationsRequest{PageRequest: req, Since: known.Since, All: true})
	}
	err = readPages(ctx, s.hostCaller, c, codehost.PageRequest{Size: pageSize}, maxNotificationPages, ask,
		func(page *codehost.Page[codehost.Notification]) (bool, error) {
			if page.PollInterval > 0 {
				next.NotBefore = now.Add(min(page.PollInterval, maxPollInterval))
			}
			all = append(all, page.Items...)
			return true, nil
		})
	if err != nil {
		return out, err
	}
	unread, err := s.listUnread(ctx, c)
	if err != nil {
		return out, err
	}
	err = s.storeRead(ctx, c, readsInbox, "store notifications", func(ctx context.Context) error {
		var still notificationState
		if _, err := s.cfg.State.read(ctx, c.accountID, notificationList, &still); err != nil {
			return err
		}
		if !still.Since.Equal(since) {
			// What was known has been forgotten meanwhile: the next reading begins anew.
			return nil
		}
		out.Notifications = len(all)
		if err := s.cfg.State.saveNotifications(ctx, c.userID, c.accountID, all); err != nil {
			return err
		}
		if err := s.cfg.State.setUnread(ctx, c.userID, c.accountID, unread); err != nil {
			return err
		}
		return s.cfg.State.keep(ctx, c.accountID, notificationList, next)
	})
	return out, err
}

// unreadList is what an account has not read at its host.
type unreadList struct {
	threads []string
	// from is the time of the last one, after which the list is whole; -1 for a whole list. It is in Unix milliseconds.
	from int64
}

// listUnread reads what an account has not read at its host. That something was read there does not change when it was updated: a list of
// what has changed does not have it.
func (s *Syncer) listUnread(ctx context.Context, c caller) (out unreadList, err error) {
	ask := func(req codehost.PageRequest) (*codehost.Page[codehost.Notification], error) {
		return c.host.Account.ListNotifications(ctx, c.token, codehost.NotificationsRequest{PageRequest: req})
	}
	err = readPages(ctx, s.hostCaller, c, codehost.PageRequest{Size: pageSize}, maxNotificationPages, ask,
		func(page *codehost.Page[codehost.Notification]) (bool, error) {
			out.from = -1
			for _, n := range page.Items {
				out.threads = append(out.threads, texts.OneLine(n.ThreadID, maxText))
				if page.NextCursor != "" {
					out.from = store.Millis(n.UpdatedAt)
				}
			}
			return true, nil
		})
	return out, err
}

package account

import (
	"context"
	"encoding/hex"
	"errors"
	"time"

	"gorm.io/gorm"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/secret"
	"github.com/patchbay-dev/patchbay/core/store"
)

// FeedToken is a token that reads one feed and nothing else. Times are Unix milliseconds, 0 for none.
type FeedToken struct {
	ID     string `gorm:"primaryKey"`
	UserID string
	Name   string
	// Hash is that of the token, which is not kept; Masked is what of it may be shown.
	Hash   string
	Masked string
	// Types, Scope, Items, Org and Search choose what the feed has, in the words of the API.
	Types      string
	Scope      string
	Items      string
	Org        string
	Search     string
	CreatedAt  int64 `gorm:"autoCreateTime:false"`
	LastUsedAt int64
}

// TableName implements gorm's Tabler.
func (FeedToken) TableName() string { return "release_feed_tokens" }

const (
	// feedTokenPrefix begins every token.
	feedTokenPrefix = "svc_ft_"
	feedTokenLength = 43
	// MaxFeedTokens is how many tokens a user has at most.
	MaxFeedTokens = 50
	// notedEvery is how exact LastUsedAt is.
	notedEvery = time.Hour
)

// AddFeedToken makes a token of a user. It returns the text of the token, which is not kept.
func (s *Store) AddFeedToken(ctx context.Context, t FeedToken, now time.Time) (added FeedToken, text string, err error) {
	text = feedTokenPrefix + secret.RandomString(feedTokenLength, secret.Alphanumeric)
	t.ID, t.Hash, t.Masked, t.CreatedAt = store.NewID("rft"), hashFeedToken(text), secret.Mask(text), store.Millis(now)
	err = s.store.Tx(ctx, "add feed token", func(ctx context.Context) error {
		var n int64
		if err := s.store.Writer(ctx).Model(&FeedToken{}).Where("user_id = ?", t.UserID).Count(&n).Error; err != nil {
			return err
		}
		if n >= MaxFeedTokens {
			return fault.New(fault.Conflict, "You have %d feed tokens, which is the limit: delete one first.", n)
		}
		return s.store.Writer(ctx).Create(&t).Error
	})
	return t, text, err
}

func hashFeedToken(text string) string { return hex.EncodeToString(secret.HashToken(text)) }

// ListFeedTokens returns the tokens of a user, the newest first.
func (s *Store) ListFeedTokens(ctx context.Context, userID string) (found []FeedToken, err error) {
	err = s.store.DB(ctx).Where("user_id = ?", userID).Order("created_at DESC, id DESC").Find(&found).Error
	return found, err
}

// DeleteFeedToken deletes a token of a user: its feed can no longer be read.
func (s *Store) DeleteFeedToken(ctx context.Context, userID, id string) error {
	return s.store.Tx(ctx, "delete feed token", func(ctx context.Context) error {
		res := s.store.Writer(ctx).Where("user_id = ? AND id = ?", userID, id).Delete(&FeedToken{})
		if res.Error == nil && res.RowsAffected == 0 {
			return fault.New(fault.NotFound, "There is no such token.")
		}
		return res.Error
	})
}

// FindFeedToken returns the token with a text. It reports false if there is none.
func (s *Store) FindFeedToken(ctx context.Context, text string) (t FeedToken, ok bool, err error) {
	err = s.store.DB(ctx).Where("hash = ?", hashFeedToken(text)).Take(&t).Error
	if errors.Is(err, gorm.ErrRecordNotFound) {
		return t, false, nil
	}
	return t, err == nil, err
}

// NoteFeedTokenUse notes that a token was used, at most once in an hour.
func (s *Store) NoteFeedTokenUse(ctx context.Context, t FeedToken, now time.Time) error {
	if store.Millis(now)-t.LastUsedAt < notedEvery.Milliseconds() {
		return nil
	}
	return s.store.Tx(ctx, "note use of feed token", func(ctx context.Context) error {
		return s.store.Writer(ctx).Model(&FeedToken{}).Where("id = ?", t.ID).Update("last_used_at", store.Millis(now)).Error
	})
}

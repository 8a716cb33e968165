package account

import (
	"context"
	"time"

	"github.com/patchbay-dev/patchbay/core/store"
)

// EndGrants deletes the tokens of feeds of a user in the running transaction, and sign-in with accounts at code hosts. What is read with
// these accounts stays.
func EndGrants(ctx context.Context, s *store.Store, userID string, _ time.Time) error {
	for _, model := range []any{&FeedToken{}, &signInRow{}} {
		if err := s.Writer(ctx).Where("user_id = ?", userID).Delete(model).Error; err != nil {
			return err
		}
	}
	return s.Writer(ctx).Model(&Account{}).Where("user_id = ?", userID).Update("sign_in", false).Error
}

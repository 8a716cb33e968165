package repo

import (
	"context"

	"gorm.io/gorm/clause"
)

// Starred is a repository with the time of the star, in Unix milliseconds, 0 if it is not known.
type Starred struct {
	RepoID    int64
	StarredAt int64
}

// accountRepo is what an account has to do with a repository.
type accountRepo struct {
	AccountID string `gorm:"primaryKey"`
	UserID    string
	RepoID    int64 `gorm:"primaryKey"`
	Starred   bool
	Owned     bool
	StarredAt int64
}

// TableName implements gorm's Tabler.
func (accountRepo) TableName() string { return "release_account_repos" }

// ReplaceStarred sets which repositories an account of a user has starred.
func (s *links) ReplaceStarred(ctx context.Context, userID, accountID string, all []Starred) error {
	return s.store.RetryTx(ctx, "replace stars", func(ctx context.Context) error {
		err := s.store.Writer(ctx).Model(&accountRepo{}).Where("account_id = ? AND starred",
			accountID).Updates(map[string]any{"starred": false, "starred_at": 0}).Error
		if err != nil {
			return err
		}
		for _, star := range all {
			row := accountRepo{AccountID: accountID, UserID: userID, RepoID: star.RepoID, Starred: true, StarredAt: star.StarredAt}
			if err := s.addAccountRepo(ctx, row, "starred", "starred_at"); err != nil {
				return err
			}
		}
		return s.mergeAccounts(ctx, userID)
	})
}

// ReplaceOwned sets which repositories an account of a user owns.
func (s *links) ReplaceOwned(ctx context.Context, userID, accountID string, repoIDs []int64) error {
	return s.store.RetryTx(ctx, "replace own repositories", func(ctx context.Context) error {
		if err := s.store.Writer(ctx).Model(&accountRepo{}).Where("account_id = ? AND owned", accountID).Update("owned",
			false).Error; err != nil {
			return err
		}
		for _, id := range repoIDs {
			if err := s.addAccountRepo(ctx, accountRepo{AccountID: accountID, UserID: userID, RepoID: id, Owned: true}, "owned"); err != nil {
				return err
			}
		}
		return s.mergeAccounts(ctx, userID)
	})
}

// ForgetAccount removes what comes from an account of a user at a code host.
func (s *links) ForgetAccount(ctx context.Context, userID, accountID string) error {
	return s.store.Tx(ctx, "forget stars", func(ctx context.Context) error {
		if err := s.store.Writer(ctx).Where("account_id = ?", accountID).Delete(&accountRepo{}).Error; err != nil {
			return err
		}
		return s.mergeAccounts(ctx, userID)
	})
}

// addAccountRepo adds a row, or sets the columns of the one that there is.
func (s *links) addAccountRepo(ctx context.Context, row accountRepo, columns ...string) error {
	return s.store.Writer(ctx).Clauses(clause.OnConflict{Columns: []clause.Column{{Name: "account_id"}, {Name: "repo_id"}},
		DoUpdates: clause.AssignmentColumns(columns)}).Create(&row).Error
}

// mergeAccounts sets the links of a user to what the user's accounts come to: a repository is starred or owned if it is so by one of
// them, and its star is the latest. Its callers have locked the user's accounts, so that no account changes meanwhile.
func (s *links) mergeAccounts(ctx context.Context, userID string) error {
	w := s.store.Writer(ctx)
	if err := w.Where("user_id = ? AND NOT starred AND NOT owned", userID).Delete(&accountRepo{}).Error; err != nil {
		return err
	}
	const of = " FROM release_account_repos a WHERE a.user_id = release_links.user_id AND a.repo_id = release_links.repo_id"
	for _, statement := range []string{
		"INSERT INTO release_links (user_id, repo_id) SELECT DISTINCT user_id, repo_id FROM release_account_repos WHERE user_id = ? ON CONFLICT DO NOTHING",
		"UPDATE release_links SET starred = EXISTS (SELECT 1" + of + " AND a.starred), owned = EXISTS (SELECT 1" + of + " AND a.owned), " +
			"starred_at = COALESCE((SELECT MAX(a.starred_at)" + of + " AND a.starred), 0) WHERE user_id = ?",
	} {
		if err := w.Exec(statement, userID).Error; err != nil {
			return err
		}
	}
	return s.settleLinks(ctx, userID)
}

// moveAccountRepos gives what accounts have to do with a repository to another, in the running transaction.
func (s *links) moveAccountRepos(ctx context.Context, from, to int64) error {
	w := s.store.Writer(ctx)
	err := w.Exec("UPDATE release_account_repos SET repo_id = ? WHERE repo_id = ? AND NOT EXISTS (SELECT 1 FROM release_account_repos o WHERE o.account_id = release_account_repos.account_id AND o.repo_id = ?)", to, from, to).Error
	if err != nil {
		return err
	}
	return w.Where("repo_id = ?", from).Delete(&accountRepo{}).Error
}

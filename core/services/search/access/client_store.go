package access

import (
	"context"
	"time"

	"github.com/patchbay-dev/patchbay/core/store"
)

// clientRecord is the first use by a kind of client.
type clientRecord struct {
	Kind    string `gorm:"primaryKey"`
	FirstAt int64
}

// TableName implements gorm's Tabler.
func (clientRecord) TableName() string { return "search_clients" }

// clientStore holds the statements about first uses by clients.
type clientStore struct{ store *store.Store }

// hasClients reports whether any client has used the service.
func (s *clientStore) hasClients(ctx context.Context) (bool, error) {
	var n int64
	err := s.store.DB(ctx).Model(&clientRecord{}).Count(&n).Error
	return n > 0, err
}

// addClient stores the first use by a kind of client.
func (s *clientStore) addClient(ctx context.Context, kind string, now time.Time) error {
	return s.store.Tx(ctx, "note the first client", func(ctx context.Context) error {
		return s.store.DB(ctx).Exec("INSERT INTO search_clients (kind, first_at) VALUES (?, ?) ON CONFLICT (kind) DO NOTHING", kind,
			now.UnixMilli()).Error
	})
}

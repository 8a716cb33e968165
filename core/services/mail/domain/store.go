package domain

import (
	"context"
	"errors"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/services/mail/address"
	"github.com/patchbay-dev/patchbay/core/store"
)

// Store holds the queries about domains. It decides nothing.
type Store struct{ store *store.Store }

// NewStore makes the store. The migrations of the service have run.
func NewStore(s *store.Store) *Store { return &Store{store: s} }

// FindDomain returns a domain that is not deleted by its id.
func (s *Store) FindDomain(ctx context.Context, id string) (Domain, error) {
	return s.take(s.store.DB(ctx).Where("id = ? AND deleted_at = 0", id))
}

// LockDomain is FindDomain in a transaction, which nobody else may change the domain before the end of.
func (s *Store) LockDomain(ctx context.Context, id string) (Domain, error) {
	return s.take(s.store.Writer(ctx).Clauses(clause.Locking{Strength: "UPDATE"}).Where("id = ? AND deleted_at = 0", id))
}

// ShareDomain is FindDomain in a transaction, until whose end the domain stays as it is.
func (s *Store) ShareDomain(ctx context.Context, id string) (Domain, error) {
	return s.take(s.store.Writer(ctx).Clauses(clause.Locking{Strength: "SHARE"}).Where("id = ? AND deleted_at = 0", id))
}

// FindByName returns a domain by its name, also a deleted one. It reports false if there is none.
func (s *Store) FindByName(ctx context.Context, name string) (Domain, bool, error) {
	return optional(s.take(s.store.DB(ctx).Where("name = ?", name)))
}

// FindForHost returns the active domain with the longest name that host is or lies below. It reports false if there is none.
func (s *Store) FindForHost(ctx context.Context, host string) (Domain, bool, error) {
	return optional(s.take(s.store.DB(ctx).Where("name IN ? AND status = ? AND deleted_at = 0", address.Parents(host),
		Active).Order("LENGTH(name) DESC")))
}

func (s *Store) take(q *gorm.DB) (d Domain, err error) {
	err = q.Take(&d).Error
	if errors.Is(err, gorm.ErrRecordNotFound) {
		err = errNoDomain()
	}
	return d, err
}

// optional turns the error of a domain that does not exist into false.
func optional(d Domain, err error) (Domain, bool, error) {
	if fault.CodeOf(err) == fault.NotFound {
		return Domain{}, false, nil
	}
	return d, err == nil, err
}

// ListDomains returns the domains that are not deleted, by name.
func (s *Store) ListDomains(ctx context.Context) (out []Domain, err error) {
	err = s.store.DB(ctx).Where("deleted_at = 0").Order("name").Find(&out).Error
	return out, err
}

// ListActive returns the active domains, by name.
func (s *Store) ListActive(ctx context.Context) (out []Domain, err error) {
	err = s.store.DB(ctx).Where("deleted_at = 0 AND status = ?", Active).Order("name").Find(&out).Error
	return out, err
}

// listPending returns the domains with an operation that has begun, the oldest first.
func (s *Store) listPending(ctx context.Context) (out []Domain, err error) {
	err = s.store.DB(ctx).Where("operation <> ''").Order("updated_at").Find(&out).Error
	return out, err
}

// insert adds a domain in the running transaction, unless there is one of that name.
func (s *Store) insert(ctx context.Context, d *Domain) (bool, error) {
	done := s.store.Writer(ctx).Clauses(clause.OnConflict{Columns: []clause.Column{{Name: "name"}}, DoNothing: true}).Create(d)
	return done.RowsAffected > 0, done.Error
}

// save writes a domain in the running transaction. A plugin that the caller does not know stays: it may have been noted after the caller
// has read the domain.
func (s *Store) save(ctx context.Context, d *Domain) error {
	w := s.store.Writer(ctx)
	if d.Plugin == "" {
		w = w.Omit("plugin")
	}
	return w.Save(d).Error
}

// replaceDomain writes all of a domain in the running transaction, so that nothing is left of what was noted about its former provider.
func (s *Store) replaceDomain(ctx context.Context, d *Domain) error {
	return s.store.Writer(ctx).Save(d).Error
}

// lacksPlugin reports whether a domain of a provider has no plugin noted.
func (s *Store) lacksPlugin(ctx context.Context, ref string) (bool, error) {
	var n int64
	err := s.store.DB(ctx).Model(&Domain{}).Where("provider = ? AND plugin = ''", ref).Count(&n).Error
	return n > 0, err
}

// setPlugin notes the plugin of a provider in the domains that have none, in the running transaction.
func (s *Store) setPlugin(ctx context.Context, ref, plugin string) error {
	return s.store.Writer(ctx).Model(&Domain{}).Where("provider = ? AND plugin = ''", ref).UpdateColumn("plugin", plugin).Error
}

// findAny returns a domain by its id, also a deleted one.
func (s *Store) findAny(ctx context.Context, id string) (Domain, error) {
	return s.take(s.store.DB(ctx).Where("id = ?", id))
}

// discard takes a domain away that never worked, in the running transaction. The row stays, as that of a deleted domain:
// mailboxes of former times may name it.
func (s *Store) discard(ctx context.Context, d *Domain) error {
	d.DeletedAt, d.Status, d.Operation, d.Step, d.ZoneID = d.UpdatedAt, Disabled, "", "", ""
	return s.save(ctx, d)
}

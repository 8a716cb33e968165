package project

import (
	"context"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"github.com/patchbay-dev/patchbay/core/services/containers/record"
)

// A discovery reads at its beginning and writes much later. What people and jobs have changed meanwhile must stand: only
// the columns are written that a discovery knows about, and something is archived or shown again only if it is still as it
// was when it was read.

// setArchived archives a row or shows it again, unless somebody did something of that kind since it was read.
func setArchived(rows *gorm.DB, reasonBefore string, at int64, reason string) error {
	return rows.Where("archived_reason = ?", reasonBefore).Updates(map[string]any{"archived_at": at, "archived_reason": reason}).Error
}

func upsertOn(w *gorm.DB, key string, columns ...string) *gorm.DB {
	return w.Clauses(clause.OnConflict{Columns: []clause.Column{{Name: key}}, DoUpdates: clause.AssignmentColumns(columns)})
}

// writeProject writes what a discovery knows of a project.
func (r *Store) writeProject(ctx context.Context, old, next *record.Project) error {
	return r.Write(ctx, "write a project", func(_ context.Context, w *gorm.DB) error { return upsertProject(w, old, next) })
}

func upsertProject(w *gorm.DB, old, next *record.Project) error {
	row := *next
	err := upsertOn(w, "project", "status", "stack_id", "working_dir", "files", "last_seen_at", "last_scan_at", "last_error", "details",
		"move").Create(&row).Error
	if err != nil || old.ArchivedAt == next.ArchivedAt {
		return err
	}
	return setArchived(w.Model(&record.Project{}).Where("project = ?", next.Project), old.ArchivedReason, next.ArchivedAt, next.ArchivedReason)
}

// WriteStack writes what a discovery knows of a stack, in the running transaction.
func (r *Store) WriteStack(ctx context.Context, old, next *record.Stack) error {
	w := r.Writer(ctx)
	row := *next
	err := upsertOn(w, "id", "working_dir", "files", "env_files", "updated_at").Create(&row).Error
	if err != nil || old.ArchivedAt == next.ArchivedAt {
		return err
	}
	return setArchived(w.Model(&record.Stack{}).Where("id = ?", next.ID), old.ArchivedReason, next.ArchivedAt, next.ArchivedReason)
}

// ServiceRow is a service as it was read and as the files say.
type ServiceRow struct {
	fresh     bool
	Old, Next record.Service
}

// WriteService writes what a discovery knows of a service, in the running transaction.
func (r *Store) WriteService(ctx context.Context, c *ServiceRow) error {
	w := r.Writer(ctx)
	if c.fresh {
		return w.Create(&c.Next).Error
	}
	own := func() *gorm.DB { return w.Model(&record.Service{}).Where("id = ?", c.Next.ID) }
	columns := []string{"mounts", "profiles", "built", "updated_at"}
	if c.Old.Image != c.Next.Image {
		columns = append(columns, "image", "repo", "tag", "pinned", "candidate_digest", "candidate_tag", "candidate_match", "candidate_arch",
			"candidate_version",
			"candidate_since", "tag_digest", "newer_tags", "check_error", "check_reason", "checked_at", "runtime_digest", "runtime_version")
		if err := own().Update("generation", gorm.Expr("generation + 1")).Error; err != nil {
			return err
		}
	}
	if err := own().Select(columns).Updates(&c.Next).Error; err != nil || c.Old.ArchivedAt == c.Next.ArchivedAt {
		return err
	}
	return setArchived(own(), c.Old.ArchivedReason, c.Next.ArchivedAt, c.Next.ArchivedReason)
}

// updateProject changes columns of a project.
func (r *Store) updateProject(ctx context.Context, name string, columns map[string]any) error {
	return r.Write(ctx, "change a project", func(_ context.Context, w *gorm.DB) error {
		return w.Model(&record.Project{}).Where("project = ?", name).Updates(columns).Error
	})
}

// forgetProjects deletes projects.
func (r *Store) forgetProjects(ctx context.Context, names []string) error {
	return r.Write(ctx, "forget projects of the same name", func(_ context.Context, w *gorm.DB) error {
		return w.Where("project IN ?", names).Delete(&record.Project{}).Error
	})
}

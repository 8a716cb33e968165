// Package record has the rows of stacks, projects, services and their changes, and the queries that the rooms of the
// containers service share.
package record

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/store"
)

// Store holds the queries about stacks, services and settings that several rooms need. It decides nothing.
type Store struct{ *store.Store }

// NewStore returns the store of a database that the migrations of the service have run on.
func NewStore(s *store.Store) *Store { return &Store{s} }

// Write runs f in a transaction with its writer.
func (r *Store) Write(ctx context.Context, name string, f func(ctx context.Context, w *gorm.DB) error) error {
	return r.Tx(ctx, name, func(ctx context.Context) error { return f(ctx, r.Writer(ctx)) })
}

// FindOne reads one row. Without one the error is a fault.NotFound with the message missing.
func FindOne[T any](db *gorm.DB, missing string) (out T, err error) {
	err = db.Take(&out).Error
	if errors.Is(err, gorm.ErrRecordNotFound) {
		return out, fault.New(fault.NotFound, "%s", missing)
	}
	return out, err
}

// The messages of a fault.NotFound.
const (
	NoStack   = "There is no such stack."
	NoService = "There is no such service."
	noProject = "There is no such project."
)

// FindStack reads a stack by its id.
func (r *Store) FindStack(ctx context.Context, id string) (Stack, error) {
	return FindOne[Stack](r.DB(ctx).Where("id = ?", id), NoStack)
}

// ListStacks returns the stacks by project.
func (r *Store) ListStacks(ctx context.Context) (out []Stack, err error) {
	err = r.DB(ctx).Order("project").Find(&out).Error
	return out, err
}

// ListWorkingDirs returns the working directories of the stacks, by project.
func (r *Store) ListWorkingDirs(ctx context.Context) (map[string]string, error) {
	var rows []Stack
	if err := r.DB(ctx).Select("project", "working_dir").Find(&rows).Error; err != nil {
		return nil, err
	}
	out := make(map[string]string, len(rows))
	for _, st := range rows {
		out[st.Project] = st.WorkingDir
	}
	return out, nil
}

// FindService reads a service by its id.
func (r *Store) FindService(ctx context.Context, id string) (Service, error) {
	return FindOne[Service](r.DB(ctx).Where("id = ?", id), NoService)
}

// ListServices returns the services by stack and name.
func (r *Store) ListServices(ctx context.Context) (out []Service, err error) {
	err = r.DB(ctx).Order("stack_id, name").Find(&out).Error
	return out, err
}

// ListStackServices returns the services of a stack by name.
func (r *Store) ListStackServices(ctx context.Context, stackID string) (out []Service, err error) {
	err = r.DB(ctx).Where("stack_id = ?", stackID).Order("name").Find(&out).Error
	return out, err
}

// ListRepoServices returns the managed services whose image is in a repository.
func (r *Store) ListRepoServices(ctx context.Context, repo string) (out []Service, err error) {
	err = r.DB(ctx).Where("repo = ? AND archived_at = 0 AND stack_id IN (SELECT id FROM containers_stacks WHERE archived_at = 0)", repo).
		Order("stack_id, name").Find(&out).Error
	return out, err
}

// ListProjects returns the projects by name.
func (r *Store) ListProjects(ctx context.Context) (out []Project, err error) {
	err = r.DB(ctx).Order("project").Find(&out).Error
	return out, err
}

// FindProject reads a project by its name.
func (r *Store) FindProject(ctx context.Context, name string) (Project, error) {
	return FindOne[Project](r.DB(ctx).Where("project = ?", name), noProject)
}

// ReadSetting reads a value into v, a pointer, and leaves it alone if nothing is stored.
func (r *Store) ReadSetting(ctx context.Context, name string, v any) (updatedAt int64, err error) {
	var rows []settingRecord
	if err := r.DB(ctx).Where("name = ?", name).Limit(1).Find(&rows).Error; err != nil {
		return 0, err
	}
	if len(rows) == 0 {
		return 0, nil
	}
	if err := json.Unmarshal([]byte(rows[0].Value), v); err != nil {
		return 0, fmt.Errorf("read the setting %s: %w", name, err)
	}
	return rows[0].UpdatedAt, nil
}

// ChangeSetting is Tx for reading a setting and writing what follows from it: such transactions on the same setting run one after
// the other. SQLite has one writer anyway.
func (r *Store) ChangeSetting(ctx context.Context, name string, f func(ctx context.Context) error) error {
	return r.Write(ctx, "change "+name, func(ctx context.Context, w *gorm.DB) error {
		if r.Dialect() == store.Postgres {
			if err := w.Exec("SELECT pg_advisory_xact_lock(hashtext(?))", "containers_settings/"+name).Error; err != nil {
				return err
			}
		}
		return f(ctx)
	})
}

// PutSetting stores a value as JSON.
func (r *Store) PutSetting(ctx context.Context, name string, v any, now int64) error {
	raw, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("encode the setting %s: %w", name, err)
	}
	return r.Write(ctx, "change "+name, func(_ context.Context, w *gorm.DB) error {
		return w.Clauses(clause.OnConflict{UpdateAll: true}).Create(&settingRecord{Name: name, Value: string(raw), UpdatedAt: now}).Error
	})
}

// UpdateService changes columns of a service.
func (r *Store) UpdateService(ctx context.Context, id string, columns map[string]any, now int64) error {
	columns["updated_at"] = now
	return r.Write(ctx, "change a service", func(_ context.Context, w *gorm.DB) error {
		return w.Model(&Service{}).Where("id = ?", id).Updates(columns).Error
	})
}

// UpdateStack changes columns of a stack.
func (r *Store) UpdateStack(ctx context.Context, id string, columns map[string]any, now int64) error {
	columns["updated_at"] = now
	return r.Write(ctx, "change a stack", func(_ context.Context, w *gorm.DB) error {
		return w.Model(&Stack{}).Where("id = ?", id).Updates(columns).Error
	})
}

// ListServiceIDs returns the ids of the managed services by project and name.
func (r *Store) ListServiceIDs(ctx context.Context) (map[[2]string]string, error) {
	var rows []struct{ Project, Name, ID string }
	err := r.DB(ctx).Raw(`SELECT k.project, s.name, s.id FROM containers_services s JOIN containers_stacks k ON k.id = s.stack_id WHERE s.archived_at = 0 AND k.archived_at = 0`).Scan(&rows).Error
	out := make(map[[2]string]string, len(rows))
	for _, row := range rows {
		out[[2]string{row.Project, row.Name}] = row.ID
	}
	return out, err
}

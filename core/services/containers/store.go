package containers

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

// recordStore holds the queries about stacks, services and settings that several rooms need. It decides nothing.
type recordStore struct{ *store.Store }

// write runs f in a transaction with its writer.
func (r *recordStore) write(ctx context.Context, name string, f func(ctx context.Context, w *gorm.DB) error) error {
	return r.Tx(ctx, name, func(ctx context.Context) error { return f(ctx, r.Writer(ctx)) })
}

// takeOne reads one row; what stands for a missing one is a fault.NotFound with the message.
func takeOne[T any](db *gorm.DB, missing string) (out T, err error) {
	err = db.Take(&out).Error
	if errors.Is(err, gorm.ErrRecordNotFound) {
		return out, fault.New(fault.NotFound, "%s", missing)
	}
	return out, err
}

const (
	noStack   = "There is no such stack."
	noService = "There is no such service."
	noProject = "There is no such project."
)

func (r *recordStore) stackByID(ctx context.Context, id string) (stackRecord, error) {
	return takeOne[stackRecord](r.DB(ctx).Where("id = ?", id), noStack)
}

func (r *recordStore) listStacks(ctx context.Context) (out []stackRecord, err error) {
	err = r.DB(ctx).Order("project").Find(&out).Error
	return out, err
}

// workingDirs are the working directories of the stacks, by project.
func (r *recordStore) workingDirs(ctx context.Context) (map[string]string, error) {
	var rows []stackRecord
	if err := r.DB(ctx).Select("project", "working_dir").Find(&rows).Error; err != nil {
		return nil, err
	}
	out := make(map[string]string, len(rows))
	for _, st := range rows {
		out[st.Project] = st.WorkingDir
	}
	return out, nil
}

func (r *recordStore) serviceByID(ctx context.Context, id string) (serviceRecord, error) {
	return takeOne[serviceRecord](r.DB(ctx).Where("id = ?", id), noService)
}

func (r *recordStore) listServices(ctx context.Context) (out []serviceRecord, err error) {
	err = r.DB(ctx).Order("stack_id, name").Find(&out).Error
	return out, err
}

func (r *recordStore) servicesOf(ctx context.Context, stackID string) (out []serviceRecord, err error) {
	err = r.DB(ctx).Where("stack_id = ?", stackID).Order("name").Find(&out).Error
	return out, err
}

// servicesOfRepo are the managed services whose image is in a repository.
func (r *recordStore) servicesOfRepo(ctx context.Context, repo string) (out []serviceRecord, err error) {
	err = r.DB(ctx).Where("repo = ? AND archived_at = 0 AND stack_id IN (SELECT id FROM containers_stacks WHERE archived_at = 0)", repo).
		Order("stack_id, name").Find(&out).Error
	return out, err
}

func (r *recordStore) listProjects(ctx context.Context) (out []projectRecord, err error) {
	err = r.DB(ctx).Order("project").Find(&out).Error
	return out, err
}

func (r *recordStore) projectByName(ctx context.Context, name string) (projectRecord, error) {
	return takeOne[projectRecord](r.DB(ctx).Where("project = ?", name), noProject)
}

// readSetting reads a value into v, a pointer, and leaves it alone if nothing is stored.
func (r *recordStore) readSetting(ctx context.Context, name string, v any) (updatedAt int64, err error) {
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

// settingTx is write for reading a setting and writing what follows from it: such transactions on the same setting run one after
// the other. SQLite has one writer anyway.
func (r *recordStore) settingTx(ctx context.Context, name string, f func(ctx context.Context, w *gorm.DB) error) error {
	return r.write(ctx, "change "+name, func(ctx context.Context, w *gorm.DB) error {
		if r.Dialect() == store.Postgres {
			if err := w.Exec("SELECT pg_advisory_xact_lock(hashtext(?))", "containers_settings/"+name).Error; err != nil {
				return err
			}
		}
		return f(ctx, w)
	})
}

func (r *recordStore) putSetting(ctx context.Context, name string, v any, now int64) error {
	raw, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("encode the setting %s: %w", name, err)
	}
	return r.write(ctx, "change "+name, func(_ context.Context, w *gorm.DB) error {
		return w.Clauses(clause.OnConflict{UpdateAll: true}).Create(&settingRecord{Name: name, Value: string(raw), UpdatedAt: now}).Error
	})
}

// updateService changes columns of a service.
func (r *recordStore) updateService(ctx context.Context, id string, columns map[string]any, now int64) error {
	columns["updated_at"] = now
	return r.write(ctx, "change a service", func(_ context.Context, w *gorm.DB) error {
		return w.Model(&serviceRecord{}).Where("id = ?", id).Updates(columns).Error
	})
}

func (r *recordStore) updateStack(ctx context.Context, id string, columns map[string]any, now int64) error {
	columns["updated_at"] = now
	return r.write(ctx, "change a stack", func(_ context.Context, w *gorm.DB) error {
		return w.Model(&stackRecord{}).Where("id = ?", id).Updates(columns).Error
	})
}

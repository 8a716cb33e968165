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

// repository holds the queries. It decides nothing.
type repository struct{ store *store.Store }

func (r *repository) db(ctx context.Context) *gorm.DB { return r.store.DB(ctx) }

// tx runs f in a transaction with its writer.
func (r *repository) tx(ctx context.Context, name string, f func(ctx context.Context, w *gorm.DB) error) error {
	return r.store.Tx(ctx, name, func(ctx context.Context) error { return f(ctx, r.store.Writer(ctx)) })
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

func (r *repository) stackByID(ctx context.Context, id string) (stackRecord, error) {
	return takeOne[stackRecord](r.db(ctx).Where("id = ?", id), noStack)
}

func (r *repository) listStacks(ctx context.Context) (out []stackRecord, err error) {
	err = r.db(ctx).Order("project").Find(&out).Error
	return out, err
}

// workingDirs are the working directories of the stacks, by project.
func (r *repository) workingDirs(ctx context.Context) (map[string]string, error) {
	var rows []stackRecord
	if err := r.db(ctx).Select("project", "working_dir").Find(&rows).Error; err != nil {
		return nil, err
	}
	out := make(map[string]string, len(rows))
	for _, st := range rows {
		out[st.Project] = st.WorkingDir
	}
	return out, nil
}

func (r *repository) serviceByID(ctx context.Context, id string) (serviceRecord, error) {
	return takeOne[serviceRecord](r.db(ctx).Where("id = ?", id), noService)
}

func (r *repository) listServices(ctx context.Context) (out []serviceRecord, err error) {
	err = r.db(ctx).Order("stack_id, name").Find(&out).Error
	return out, err
}

func (r *repository) servicesOf(ctx context.Context, stackID string) (out []serviceRecord, err error) {
	err = r.db(ctx).Where("stack_id = ?", stackID).Order("name").Find(&out).Error
	return out, err
}

// servicesOfRepo are the managed services whose image is in a repository.
func (r *repository) servicesOfRepo(ctx context.Context, repo string) (out []serviceRecord, err error) {
	err = r.db(ctx).Where("repo = ? AND archived_at = 0 AND stack_id IN (SELECT id FROM containers_stacks WHERE archived_at = 0)", repo).
		Order("stack_id, name").Find(&out).Error
	return out, err
}

func (r *repository) listProjects(ctx context.Context) (out []projectRecord, err error) {
	err = r.db(ctx).Order("project").Find(&out).Error
	return out, err
}

func (r *repository) projectByName(ctx context.Context, name string) (projectRecord, error) {
	return takeOne[projectRecord](r.db(ctx).Where("project = ?", name), noProject)
}

func (r *repository) ignoreRules(ctx context.Context) (out []ignoreRecord, err error) {
	err = r.db(ctx).Order("created_at, id").Find(&out).Error
	return out, err
}

// readSetting reads a value into v, a pointer, and leaves it alone if nothing is stored.
func (r *repository) readSetting(ctx context.Context, name string, v any) (updatedAt int64, err error) {
	var rows []settingRecord
	if err := r.db(ctx).Where("name = ?", name).Limit(1).Find(&rows).Error; err != nil {
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

// settingTx is tx for reading a setting and writing what follows from it: such transactions on the same setting run one after
// the other. SQLite has one writer anyway.
func (r *repository) settingTx(ctx context.Context, name string, f func(ctx context.Context, w *gorm.DB) error) error {
	return r.tx(ctx, "change "+name, func(ctx context.Context, w *gorm.DB) error {
		if r.store.Dialect() == store.Postgres {
			if err := w.Exec("SELECT pg_advisory_xact_lock(hashtext(?))", "containers_settings/"+name).Error; err != nil {
				return err
			}
		}
		return f(ctx, w)
	})
}

func (r *repository) putSetting(ctx context.Context, name string, v any, now int64) error {
	raw, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("encode the setting %s: %w", name, err)
	}
	return r.tx(ctx, "change "+name, func(_ context.Context, w *gorm.DB) error {
		return w.Clauses(clause.OnConflict{UpdateAll: true}).Create(&settingRecord{Name: name, Value: string(raw), UpdatedAt: now}).Error
	})
}

// updateService changes columns of a service.
func (r *repository) updateService(ctx context.Context, id string, columns map[string]any, now int64) error {
	columns["updated_at"] = now
	return r.tx(ctx, "change a service", func(_ context.Context, w *gorm.DB) error {
		return w.Model(&serviceRecord{}).Where("id = ?", id).Updates(columns).Error
	})
}

func (r *repository) updateStack(ctx context.Context, id string, columns map[string]any, now int64) error {
	columns["updated_at"] = now
	return r.tx(ctx, "change a stack", func(_ context.Context, w *gorm.DB) error {
		return w.Model(&stackRecord{}).Where("id = ?", id).Updates(columns).Error
	})
}

// manifestsOf returns the known platforms of digests.
func (r *repository) manifestsOf(ctx context.Context, digests []string) (map[string][]platformEntry, error) {
	var rows []manifestRecord
	if err := r.db(ctx).Where("digest IN ?", digests).Find(&rows).Error; err != nil {
		return nil, err
	}
	out := make(map[string][]platformEntry, len(rows))
	for _, m := range rows {
		out[m.Digest] = m.Platforms
	}
	return out, nil
}

func (r *repository) keepManifest(ctx context.Context, digest string, platforms []platformEntry, now int64) error {
	return r.tx(ctx, "keep a manifest", func(_ context.Context, w *gorm.DB) error {
		return w.Clauses(clause.OnConflict{DoNothing: true}).Create(&manifestRecord{Digest: digest, Platforms: platforms, CreatedAt: now}).Error
	})
}

package store

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/hashicorp/go-hclog"
	"gorm.io/driver/postgres"
	"gorm.io/driver/sqlite"
	"gorm.io/gorm"
	"gorm.io/gorm/logger"
)

// slowQuery is the duration from which a statement is logged.
const slowQuery = 200 * time.Millisecond

// ErrReadOnly is the error of a write through the read handle.
var ErrReadOnly = errors.New("write through the read handle")

// openGorm returns a gorm handle with the settings of the store.
func (s *Store) openGorm(dialector gorm.Dialector, readOnly bool) (*gorm.DB, error) {
	db, err := gorm.Open(dialector, &gorm.Config{
		Logger:                 queryLog{log: s.log, note: s.noteDamage},
		SkipDefaultTransaction: true,
		DisableAutomaticPing:   true,
		TranslateError:         true,
		QueryFields:            s.cfg.Dialect == Postgres, // see Columns
		NowFunc:                func() time.Time { return time.Now().UTC() },
	})
	if err != nil {
		return nil, fmt.Errorf("open the database: %w", err)
	}
	if readOnly {
		err = refuseWrites(db)
	}
	return db, err
}

// refuseWrites makes writes through a read handle of PostgreSQL fail, as they do on SQLite's read connections.
func refuseWrites(db *gorm.DB) error {
	refuse := func(db *gorm.DB) {
		if db.Error == nil {
			_ = db.AddError(ErrReadOnly)
		}
	}
	on := db.Callback()
	return errors.Join(
		on.Create().Before("gorm:create").Register("store:refuse_create", refuse),
		on.Update().Before("gorm:update").Register("store:refuse_update", refuse),
		on.Delete().Before("gorm:delete").Register("store:refuse_delete", refuse),
		on.Raw().Before("gorm:raw").Register("store:refuse_exec", refuse),
	)
}

// queryLog writes slow statements to the log, without their values.
type queryLog struct {
	log hclog.Logger
	// note gets the error of each statement that fails.
	note func(error)
}

// LogMode implements logger.Interface; the level is hclog's.
func (q queryLog) LogMode(logger.LogLevel) logger.Interface { return q }

// Info implements logger.Interface.
func (q queryLog) Info(_ context.Context, format string, _ ...any) {
	q.log.Debug("gorm", "message", format)
}

// Warn implements logger.Interface.
func (q queryLog) Warn(_ context.Context, format string, _ ...any) {
	q.log.Debug("gorm", "message", format)
}

// Error implements logger.Interface.
func (q queryLog) Error(_ context.Context, format string, _ ...any) {
	q.log.Debug("gorm", "message", format)
}

// Trace implements logger.Interface.
func (q queryLog) Trace(_ context.Context, begin time.Time, fc func() (string, int64), err error) {
	if err != nil {
		q.note(err)
	}
	took := time.Since(begin)
	if took < slowQuery || !q.log.IsDebug() {
		return
	}
	sql, rows := fc()
	q.log.Debug("slow statement", "sql", sql, "rows", rows, "took", took)
}

// sqliteDialect and postgresDialect are gorm's, except that they never write values into the text of a statement, which
// is what the log gets.
type (
	sqliteDialect   struct{ sqlite.Dialector }
	postgresDialect struct{ *postgres.Dialector }
)

// Explain implements gorm.Dialector.
func (sqliteDialect) Explain(sql string, _ ...any) string { return sql }

// Explain implements gorm.Dialector.
func (postgresDialect) Explain(sql string, _ ...any) string { return sql }

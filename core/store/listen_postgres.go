package store

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/patchbay-dev/patchbay/core/event"
)

const (
	// MaxNotification is the largest payload of Notify, in bytes.
	MaxNotification = 7999
	// listenRetry paces the attempts to connect again, and listenProbe is how long a connection may be silent before it is probed.
	listenRetry = time.Second
	listenProbe = 5 * time.Second
	// listenTimeout is long: who begins to listen passes over all notifications that wait, up to 8 GB.
	listenTimeout = time.Minute
	// sqlstateLimit is PostgreSQL's code for a queue of notifications that is full.
	sqlstateLimit = "54000"
)

// NotificationsHint says why PostgreSQL's queue of notifications is not emptied, and what to do.
const NotificationsHint = "a session that listens, perhaps in another database of the server, is held in a transaction or does not read: end it " +
	"(PostgreSQL's log names its PID, see pg_stat_activity)"

// ErrNotificationsFull is in the chain of Notify's error while PostgreSQL takes no notifications from anybody.
var ErrNotificationsFull = errors.New("PostgreSQL's queue of notifications is full: " + NotificationsHint)

// Notify sends payloads to those who listen on a channel of the database, each at most MaxNotification bytes long. It is a transaction of
// its own: one with a notification waits for all others of that kind when it commits. On SQLite it does nothing.
func Notify(ctx context.Context, s *Store, channel string, payloads ...string) error {
	if s.cfg.Dialect != Postgres || len(payloads) == 0 {
		return nil
	}
	calls, args := make([]string, len(payloads)), make([]any, 0, 2*len(payloads))
	for i, p := range payloads {
		calls[i], args = "pg_notify(?, ?)", append(args, channel, p)
	}
	err := s.QueueTx(ctx, "notify other cores", func(ctx context.Context) error {
		return s.Writer(ctx).Exec("SELECT "+strings.Join(calls, ", "), args...).Error
	})
	var pg *pgconn.PgError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &pg) && pg.Code == sqlstateLimit:
		return fmt.Errorf("notify other cores: %w: %w", ErrNotificationsFull, err)
	}
	return fmt.Errorf("notify other cores: %w", err)
}

// FreeNotifications frees what all who listen have read of PostgreSQL's queue of notifications, and returns how full it is then, from 0 to 1.
// PostgreSQL does that by itself when a notification is sent, but not when it refuses one: a queue that was full stays full until somebody
// asks. On SQLite it does nothing.
func FreeNotifications(ctx context.Context, s *Store) (usage float64, err error) {
	if s.cfg.Dialect != Postgres {
		return 0, nil
	}
	if err := s.DB(ctx).Raw("SELECT pg_notification_queue_usage()").Scan(&usage).Error; err != nil {
		return 0, fmt.Errorf("look at the queue of notifications: %w", err)
	}
	return usage, nil
}

// Listener is what Listen calls, from one goroutine.
type Listener struct {
	// Connected is called whenever listening begins: what was sent before is lost.
	Connected func()
	// Ended is called whenever listening has ended.
	Ended func()
	// Received gets each payload, in the order of their commits.
	Received func(payload string)
}

// Listen receives what is sent on a channel of the database, on a session of its own of direct_url, until ctx ends. A connection that
// breaks is replaced. On SQLite it waits for ctx. It returns ctx's error.
func Listen(ctx context.Context, s *Store, channel string, l Listener) error {
	for ctx.Err() == nil && s.cfg.Dialect == Postgres {
		if err := l.listenOnce(ctx, s, channel); err != nil && ctx.Err() == nil {
			s.log.Warn("lost the connection for news from other cores, reconnecting", "error", err)
		}
		if err := event.Sleep(ctx, listenRetry); err != nil {
			return err
		}
	}
	<-ctx.Done()
	return ctx.Err()
}

// listenOnce listens until the connection breaks.
func (l Listener) listenOnce(ctx context.Context, s *Store, channel string) error {
	cfg, err := s.cfg.parseDirectURL()
	if err != nil {
		return err
	}
	connecting, cancel := context.WithTimeout(ctx, lockTimeout)
	defer cancel()
	cfg.ConnConfig.RuntimeParams["application_name"] = "patchbay news"
	conn, err := pgx.ConnectConfig(connecting, cfg.ConnConfig)
	if err != nil {
		return fmt.Errorf("connect to the database: %w", err)
	}
	defer closeConn(conn)
	listening, cancel := context.WithTimeout(ctx, listenTimeout)
	defer cancel()
	if _, err := conn.Exec(listening, "LISTEN "+pgx.Identifier{channel}.Sanitize()); err != nil {
		return fmt.Errorf("listen: %w", err)
	}
	l.Connected()
	defer l.Ended()
	for {
		got, err := waitForNotification(ctx, conn)
		if err != nil {
			return err
		}
		if got != "" {
			l.Received(got)
		}
	}
}

// waitForNotification returns the next payload, or "" if there was none for a while and the server still answers.
func waitForNotification(ctx context.Context, conn *pgx.Conn) (string, error) {
	waiting, cancel := context.WithTimeout(ctx, listenProbe)
	defer cancel()
	got, err := conn.WaitForNotification(waiting)
	switch {
	case err == nil:
		return got.Payload, nil
	case ctx.Err() != nil:
		return "", ctx.Err()
	case !errors.Is(waiting.Err(), context.DeadlineExceeded):
		return "", err
	case !isAlive(conn):
		return "", errors.New("the server does not answer")
	}
	return "", nil
}

package tickets

import (
	"context"
	"log/slog"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver"
)

// driver is River's driver, except that it takes tickets only of jobs that may begin here, and that it is woken by this process and not
// by notifications of the database: those would put the commits of all submissions in a line.
type driver struct {
	riverdriver.Driver[pgx.Tx]
	client *Client
}

// GetExecutor implements riverdriver.Driver.
func (d *driver) GetExecutor() riverdriver.Executor {
	return &executor{Executor: d.Driver.GetExecutor(), client: d.client}
}

// GetListener implements riverdriver.Driver.
func (d *driver) GetListener(*riverdriver.GetListenenerParams) riverdriver.Listener {
	return wakeListener{woken: d.client.woken}
}

// SupportsListener implements riverdriver.Driver.
func (*driver) SupportsListener() bool { return true }

// SupportsListenNotify implements riverdriver.Driver.
func (*driver) SupportsListenNotify() bool { return false }

// executor is River's access to the database.
type executor struct {
	riverdriver.Executor
	client *Client
}

// JobGetAvailable implements riverdriver.Executor. It takes tickets of types with a limit first, of which fewer may begin, and then others.
func (e *executor) JobGetAvailable(ctx context.Context, p *riverdriver.JobGetAvailableParams) (*riverdriver.JobGetAvailableResult, error) {
	out := &riverdriver.JobGetAvailableResult{}
	open, limited, room := e.client.cfg.Kinds(e.client.takenKinds())
	if len(limited) > 0 {
		if err := e.take(ctx, p, Limited, limited, min(room, p.MaxToLock), out); err != nil {
			return nil, err
		}
		if len(out.Jobs) > 0 {
			for _, job := range out.Jobs {
				e.client.noteTaken(job.ID, job.Kind)
			}
			e.client.Wake() // there may be more, of this type or another
		}
	}
	if left := p.MaxToLock - len(out.Jobs); len(open) > 0 && left > 0 {
		if err := e.take(ctx, p, Open, open, left, out); err != nil && len(out.Jobs) == 0 {
			return nil, err
		}
	}
	for _, job := range out.Jobs {
		job.Kind = Ticket{}.Kind()
	}
	return out, nil
}

// LeaderResign implements riverdriver.Executor. River's own would also notify, which nobody hears, and which fails while the database's queue
// of notifications is full.
func (e *executor) LeaderResign(ctx context.Context, p *riverdriver.LeaderResignParams) (bool, error) {
	done, err := e.client.cfg.Pool.Exec(ctx, "DELETE FROM river_leader WHERE elected_at = $1 AND leader_id = $2", p.ElectedAt, p.LeaderID)
	return done.RowsAffected() > 0, err
}

// take adds at most limit tickets of some types that wait in a queue of River.
func (e *executor) take(ctx context.Context, p *riverdriver.JobGetAvailableParams, queue string, kinds []string, limit int,
	out *riverdriver.JobGetAvailableResult) error {
	asked := *p
	asked.Queue, asked.Kind, asked.MaxToLock = queue, kinds, limit
	got, err := e.Executor.JobGetAvailable(ctx, &asked)
	if err != nil {
		return err
	}
	out.Jobs = append(out.Jobs, got.Jobs...)
	for id, err := range got.DecodeErrors {
		if out.DecodeErrors == nil {
			out.DecodeErrors = map[int64]error{}
		}
		out.DecodeErrors[id] = err
	}
	return nil
}

// wakeListener tells River that there are tickets when the queue is woken.
type wakeListener struct{ woken <-chan struct{} }

// Close implements riverdriver.Listener.
func (wakeListener) Close(context.Context) error { return nil }

// Connect implements riverdriver.Listener.
func (wakeListener) Connect(context.Context) error { return nil }

// Listen implements riverdriver.Listener.
func (wakeListener) Listen(context.Context, string) error { return nil }

// Ping implements riverdriver.Listener.
func (wakeListener) Ping(context.Context) error { return nil }

// Schema implements riverdriver.Listener.
func (wakeListener) Schema() string { return "" }

// SetAfterConnectExec implements riverdriver.Listener.
func (wakeListener) SetAfterConnectExec(string) {}

// Unlisten implements riverdriver.Listener.
func (wakeListener) Unlisten(context.Context, string) error { return nil }

// WaitForNotification implements riverdriver.Listener.
func (l wakeListener) WaitForNotification(ctx context.Context) (*riverdriver.Notification, error) {
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-l.woken:
		return &riverdriver.Notification{Topic: "river_insert", Payload: `{"queue":"` + Open + `"}`}, nil
	}
}

// worker runs the job of a ticket.
type worker struct {
	river.WorkerDefaults[Ticket]
	client *Client
}

// Work implements river.Worker.
func (w *worker) Work(_ context.Context, t *river.Job[Ticket]) error {
	defer w.client.dropTaken(t.ID)
	if again := w.client.cfg.Run(t.Args, func() { w.client.dropTaken(t.ID) }); again >= 0 {
		return river.JobSnooze(again)
	}
	return nil
}

// Timeout implements river.Worker: the queue bounds the time of a job.
func (*worker) Timeout(*river.Job[Ticket]) time.Duration { return -1 }

// logHandler writes River's log. What it tells about its own work is for debugging.
type logHandler struct {
	log  hclog.Logger
	args []any
}

// Enabled implements slog.Handler.
func (h logHandler) Enabled(_ context.Context, level slog.Level) bool {
	return level >= slog.LevelWarn || h.log.IsDebug()
}

// Handle implements slog.Handler.
func (h logHandler) Handle(_ context.Context, r slog.Record) error {
	args := h.args[:len(h.args):len(h.args)]
	r.Attrs(func(a slog.Attr) bool {
		args = append(args, a.Key, a.Value.String())
		return true
	})
	level := hclog.Debug
	switch {
	case r.Level >= slog.LevelError:
		level = hclog.Error
	case r.Level >= slog.LevelWarn:
		level = hclog.Warn
	}
	h.log.Log(level, "tickets: "+r.Message, args...)
	return nil
}

// WithAttrs implements slog.Handler.
func (h logHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	for _, a := range attrs {
		h.args = append(h.args[:len(h.args):len(h.args)], a.Key, a.Value.String())
	}
	return h
}

// WithGroup implements slog.Handler.
func (h logHandler) WithGroup(string) slog.Handler { return h }

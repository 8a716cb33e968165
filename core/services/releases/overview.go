package releases

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/patchbay-dev/patchbay/core/auth"
	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/lists"
	"github.com/patchbay-dev/patchbay/core/queue"
	"github.com/patchbay-dev/patchbay/core/services/releases/reader"
	"github.com/patchbay-dev/patchbay/core/services/releases/repo"
	"github.com/patchbay-dev/patchbay/core/services/releases/sync"
	"github.com/patchbay-dev/patchbay/core/services/releases/task"
)

// HostLimit is the limit of a code host for one token.
type HostLimit struct {
	sync.Limit
	// UserName is whose token it is, "" for calls without one.
	UserName string
}

// HostState is how a code host is doing.
type HostState struct {
	Ref string
	// Problem says why it cannot be used, "" for nothing.
	Problem string
	Limits  []HostLimit
}

// Task is a task of a user, or the last run of a schedule.
type Task struct {
	queue.Job
	// UserName is who asked for it, "" for the clock.
	UserName string
}

// ScheduleState is a schedule with its last run; its ID is "" if there was none yet.
type ScheduleState struct {
	queue.Schedule
	Last queue.Job
}

// Overview is what administrators see of the service.
type Overview struct {
	Hosts     []HostState
	Repos     repo.Stats
	Failing   []repo.Repo
	Schedules []ScheduleState
	Tasks     []Task
}

const (
	// shownTasks and shownFailing are how many tasks and failing repositories the overview has.
	shownTasks, shownFailing = 20, 20
)

// OverviewOf returns how the service is doing, to administrators.
func (s *Service) OverviewOf(ctx context.Context) (out Overview, err error) {
	if p := auth.From(ctx); p == nil || !p.Admin() {
		return out, fault.New(fault.Forbidden, "This is for administrators.")
	}
	users, err := s.cfg.Users.List(ctx)
	if err != nil {
		return out, err
	}
	names := map[string]string{}
	for _, u := range users {
		names[u.ID] = cmp.Or(u.Name, u.Email)
	}
	if out.Hosts, err = s.hostStates(ctx, names); err != nil {
		return out, err
	}
	if out.Repos, err = s.repos.CountAll(ctx, s.cfg.Now()); err != nil {
		return out, err
	}
	if out.Failing, err = s.repos.ListFailing(ctx, shownFailing); err != nil {
		return out, err
	}
	for _, schedule := range s.Schedules() {
		last, _, err := s.cfg.Queue.List(ctx, queue.Filter{Types: []string{schedule.Type}}, "", 1)
		if err != nil {
			return out, err
		}
		state := ScheduleState{Schedule: schedule}
		if len(last) > 0 {
			state.Last = last[0]
		}
		out.Schedules = append(out.Schedules, state)
	}
	var types []string
	for _, h := range s.Jobs() {
		if _, ok := task.TypeOfJob(h.Type); ok {
			types = append(types, h.Type)
		}
	}
	tasks, _, err := s.cfg.Queue.List(ctx, queue.Filter{Types: types}, "", shownTasks)
	for _, job := range tasks {
		out.Tasks = append(out.Tasks, Task{job, names[job.Actor]})
	}
	return out, err
}

// hostStates returns how the code hosts are doing. names are those of users by their ids.
func (s *Service) hostStates(ctx context.Context, names map[string]string) (out []HostState, err error) {
	limits, err := s.syncer.Limits(ctx)
	if err != nil {
		return nil, err
	}
	ids := lists.ConvertAll(limits, func(limit sync.Limit) string { return limit.AccountID })
	accounts, err := s.accounts.ByIDs(ctx, ids)
	if err != nil {
		return nil, err
	}
	nameOf := func(l sync.Limit) string {
		a, ok := accounts[l.AccountID]
		if !ok {
			return ""
		}
		return names[a.UserID] + " (" + a.Login + ")"
	}
	slices.SortFunc(limits, func(a, b sync.Limit) int { return cmp.Compare(nameOf(a), nameOf(b)) })
	for _, h := range s.state.Load().hosts {
		state := HostState{Ref: h.Ref}
		if _, err := h.Abilities(); err != nil {
			state.Problem = fault.As(err).Message
		}
		for _, limit := range limits {
			if limit.Host == h.Ref {
				state.Limits = append(state.Limits, HostLimit{limit, nameOf(limit)})
			}
		}
		out = append(out, state)
	}
	return out, nil
}

// IsPaused reports whether the host is left alone at a time.
func (l HostLimit) IsPaused(now time.Time) bool { return l.PausedUntil.After(now) }

// Status is what the pages say of the service as a whole.
type Status struct {
	// HasHosts says that a code host is in use, HasChannels that notifications go somewhere, SeesRepos that the caller sees a
	// repository.
	HasHosts, HasChannels, SeesRepos bool
	// Unread is how many notifications of the caller are unread.
	Unread int64
	// Languages are those in which briefs and translations may be read.
	Languages []string
	// HasTranslator says that releases can be translated.
	HasTranslator bool
}

// StatusOf returns what the pages say to the caller.
func (s *Service) StatusOf(ctx context.Context) (out Status, err error) {
	st := s.state.Load()
	out.HasHosts, out.HasChannels = len(st.hosts) > 0, len(st.settings.Notify) > 0
	out.Languages, out.HasTranslator = s.ReadingLanguages(), st.translator != nil
	if out.SeesRepos, err = s.repos.SeesAny(ctx, reader.ID(ctx)); err == nil {
		out.Unread, err = s.reads.CountUnread(ctx, reader.ID(ctx))
	}
	return out, err
}

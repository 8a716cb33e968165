package containers

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"github.com/patchbay-dev/patchbay/core/event"
	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/httpd/api"
	"github.com/patchbay-dev/patchbay/sdk/engine"
)

// sampleRecord is the use of resources by one service at one moment, summed over its containers.
type sampleRecord struct {
	ServiceID  string `gorm:"primaryKey"`
	At         int64  `gorm:"primaryKey;autoIncrement:false"`
	CPU        float64
	MemUsed    int64
	MemLimit   int64
	NetRx      int64
	NetTx      int64
	BlockRead  int64
	BlockWrite int64
	Pids       int64
	Containers int64
}

// TableName implements gorm's Tabler.
func (sampleRecord) TableName() string { return "containers_samples" }

// Sample is the use of resources by a service at one moment.
type Sample struct {
	SampledAt       api.Time `json:"sampledAt"`
	CPUPercent      float64  `json:"cpuPercent" doc:"100 is one core."`
	MemUsedBytes    int64    `json:"memUsedBytes"`
	MemLimitBytes   int64    `json:"memLimitBytes"`
	NetRxBytes      int64    `json:"netRxBytes" doc:"Since the containers began."`
	NetTxBytes      int64    `json:"netTxBytes"`
	BlockReadBytes  int64    `json:"blockReadBytes"`
	BlockWriteBytes int64    `json:"blockWriteBytes"`
	PIDs            int64    `json:"pids"`
	ContainerCount  int64    `json:"containerCount"`
}

func (r *sampleRecord) toSample() Sample {
	return Sample{
		SampledAt: api.TimeOfMillis(r.At), CPUPercent: r.CPU, MemUsedBytes: r.MemUsed, MemLimitBytes: r.MemLimit, NetRxBytes: r.NetRx, NetTxBytes: r.NetTx,
		BlockReadBytes: r.BlockRead, BlockWriteBytes: r.BlockWrite, PIDs: r.Pids, ContainerCount: r.Containers,
	}
}

const (
	// topicSamples is where new samples are published, followed by the service's id.
	topicSamples = "containers.samples/"
	// watchPause is the pause between two samples while somebody watches.
	watchPause = time.Second
	// breakAfter is the number of failures in a row after which the engine is not asked for a pause, from breakMin doubling up
	// to breakMax.
	breakAfter = 2
	breakMin   = 5 * time.Second
	breakMax   = time.Minute
)

// sampler measures all services of the host by the clock, with one list and one call for the samples.
type sampler struct {
	s     *Service
	poked chan struct{}

	mu       sync.Mutex
	failures int
	watchers map[string]int
	recent   map[string]sampleRecord
}

func newSampler(s *Service) *sampler {
	return &sampler{s: s, poked: make(chan struct{}, 1), watchers: map[string]int{}, recent: map[string]sampleRecord{}}
}

// wakeSampler makes the sampler read the settings and the watchers again.
func (p *sampler) wakeSampler() {
	select {
	case p.poked <- struct{}{}:
	default:
	}
}

// addWatcher registers a live watcher of a service. The function that it returns removes it.
func (p *sampler) addWatcher(id string) (leave func()) {
	p.mu.Lock()
	p.watchers[id]++
	p.mu.Unlock()
	p.wakeSampler()
	return func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		if p.watchers[id]--; p.watchers[id] <= 0 {
			delete(p.watchers, id)
		}
	}
}

// runSampler takes samples until ctx ends. Late ticks are skipped.
func (p *sampler) runSampler(ctx context.Context) {
	var stored time.Time
	for {
		set, err := p.s.systemSettings(ctx)
		pause := time.Minute
		if err == nil && set.Monitor.Enabled {
			every := time.Duration(set.Monitor.SampleInterval) * time.Second
			pause = p.nextPause(every)
			if began := time.Now(); p.enabledFor(began, stored, every) {
				keep := began.Sub(stored) >= every-watchPause/2
				if p.takeSample(ctx, keep) && keep {
					stored = began
				}
				pause = max(p.nextPause(every)-time.Since(began), 10*time.Millisecond)
			}
		}
		t := time.NewTimer(pause)
		select {
		case <-ctx.Done():
			t.Stop()
			return
		case <-t.C:
		case <-p.poked:
			t.Stop()
		}
	}
}

func (p *sampler) enabledFor(now, stored time.Time, every time.Duration) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.watchers) > 0 || now.Sub(stored) >= every-watchPause/2
}

// nextPause returns the time until the next sample. It is shorter while there are watchers and longer while the engine does
// not answer.
func (p *sampler) nextPause(every time.Duration) time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.failures >= breakAfter {
		return min(breakMin<<min(p.failures-breakAfter, 8), breakMax)
	}
	if len(p.watchers) > 0 {
		return min(every, watchPause)
	}
	return every
}

// takeSample samples all containers and publishes the samples. It stores them if keep is true, and reports whether it
// succeeded.
func (p *sampler) takeSample(ctx context.Context, keep bool) bool {
	rows, err := p.measureAll(ctx)
	p.mu.Lock()
	if err != nil {
		p.failures++
		if p.failures == breakAfter {
			p.s.log.Warn("the use of resources cannot be sampled", "error", err)
		}
		p.mu.Unlock()
		return false
	}
	p.failures = 0
	p.recent = map[string]sampleRecord{}
	for _, r := range rows {
		p.recent[r.ServiceID] = r
	}
	p.mu.Unlock()
	for _, r := range rows {
		p.s.live.Publish(topicSamples+r.ServiceID, event.Event{Seq: r.At, Type: "resource_usage_tick", Data: r.toSample()})
	}
	if !keep || len(rows) == 0 {
		return true
	}
	if err := p.s.repo.addSamples(ctx, rows); err != nil && ctx.Err() == nil {
		p.s.log.Warn("samples of resources could not be stored", "error", err)
		return false
	}
	return true
}

func (p *sampler) measureAll(ctx context.Context) ([]sampleRecord, error) {
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	list, err := p.s.engine().Containers(ctx, engine.Filter{Labels: []string{labelProject}})
	if err != nil {
		return nil, fmt.Errorf("list the containers: %w", err)
	}
	dirs, err := p.s.repo.ListWorkingDirs(ctx)
	if err != nil {
		return nil, fmt.Errorf("read the stacks: %w", err)
	}
	list, _ = splitForeign(list, dirs)
	byName, err := p.s.repo.serviceIDs(ctx)
	if err != nil {
		return nil, fmt.Errorf("read the services: %w", err)
	}
	owner := map[string]string{}
	var ids []string
	for _, c := range list {
		id := byName[[2]string{c.Labels[labelProject], c.Labels[labelService]}]
		if id != "" && c.State == "running" && !oneOff(c) {
			owner[c.ID] = id
			ids = append(ids, c.ID)
		}
	}
	if len(ids) == 0 {
		return nil, nil
	}
	samples, err := p.s.engine().Stats(ctx, ids)
	if err != nil {
		return nil, fmt.Errorf("sample the containers: %w", err)
	}
	at := p.s.now()
	sums := map[string]*sampleRecord{}
	for _, x := range samples {
		id := owner[x.ContainerID]
		if id == "" {
			continue
		}
		if sums[id] == nil {
			sums[id] = &sampleRecord{ServiceID: id, At: at}
		}
		sums[id].addSample(x)
	}
	var out []sampleRecord
	for _, r := range sums {
		out = append(out, *r)
	}
	slices.SortFunc(out, func(a, b sampleRecord) int { return cmp.Compare(a.ServiceID, b.ServiceID) })
	return out, nil
}

func (r *sampleRecord) addSample(x engine.Sample) {
	r.CPU += x.CPUPercent
	r.MemUsed += x.MemUsed
	r.MemLimit += x.MemLimit
	r.NetRx += x.NetRx
	r.NetTx += x.NetTx
	r.BlockRead += x.BlockRead
	r.BlockWrite += x.BlockWrite
	r.Pids += x.PIDs
	r.Containers++
}

func (r *repository) addSamples(ctx context.Context, rows []sampleRecord) error {
	return r.Write(ctx, "store samples", func(_ context.Context, w *gorm.DB) error {
		return w.Clauses(clause.OnConflict{DoNothing: true}).CreateInBatches(rows, 200).Error
	})
}

// serviceIDs are the ids of the managed services by project and name.
func (r *repository) serviceIDs(ctx context.Context) (map[[2]string]string, error) {
	var rows []struct{ Project, Name, ID string }
	err := r.DB(ctx).Raw(`SELECT k.project, s.name, s.id FROM containers_services s JOIN containers_stacks k ON k.id = s.stack_id WHERE s.archived_at = 0 AND k.archived_at = 0`).Scan(&rows).Error
	out := make(map[[2]string]string, len(rows))
	for _, row := range rows {
		out[[2]string{row.Project, row.Name}] = row.ID
	}
	return out, err
}

// windows are the windows of the history, with the width of a point.
var windows = map[string]struct{ span, step time.Duration }{
	"3m": {3 * time.Minute, 0}, "1h": {time.Hour, 30 * time.Second}, "24h": {24 * time.Hour, 10 * time.Minute}, "7d": {7 * 24 * time.Hour, time.Hour},
}

// ResourceHistory is the use of resources by a service in a window.
type ResourceHistory struct {
	ServiceID string   `json:"serviceId"`
	Window    string   `json:"window" enum:"3m,1h,24h,7d"`
	Samples   []Sample `json:"samples"`
}

// ResourceHistory reads the samples of a window. Long windows are thinned out: one sample stands for each step, with the
// mean of processor and memory.
func (s *Service) ResourceHistory(ctx context.Context, id, window string) (ResourceHistory, error) {
	window = cmp.Or(window, "1h")
	out := ResourceHistory{ServiceID: id, Window: window, Samples: []Sample{}}
	w, ok := windows[window]
	if !ok {
		return out, invalidField("window", "The window must be 3m, 1h, 24h or 7d.")
	}
	if _, err := s.repo.FindService(ctx, id); err != nil {
		return out, err
	}
	if err := s.requireMonitoring(ctx); err != nil {
		return out, err
	}
	rows, err := s.repo.listSamples(ctx, id, s.cfg.Now().Add(-w.span).UnixMilli(), w.step.Milliseconds())
	if err != nil {
		return out, fmt.Errorf("read the samples: %w", err)
	}
	for i := range rows {
		out.Samples = append(out.Samples, rows[i].toSample())
	}
	return out, nil
}

// requireMonitoring returns a conflict if monitoring is off.
func (s *Service) requireMonitoring(ctx context.Context) error {
	set, err := s.systemSettings(ctx)
	if err == nil && !set.Monitor.Enabled {
		return fault.New(fault.Conflict, "The sampling of resources is switched off in the settings.").With("reason", "resource_monitor_disabled")
	}
	return err
}

func (r *repository) listSamples(ctx context.Context, id string, since, step int64) (out []sampleRecord, err error) {
	if step == 0 {
		err = r.DB(ctx).Where("service_id = ? AND at >= ?", id, since).Order("at").Find(&out).Error
		return out, err
	}
	err = r.DB(ctx).Raw(`SELECT service_id, MAX(at) AS at, AVG(cpu) AS cpu, CAST(AVG(mem_used) AS BIGINT) AS mem_used, MAX(mem_limit) AS mem_limit, MAX(net_rx) AS net_rx,
		MAX(net_tx) AS net_tx, MAX(block_read) AS block_read, MAX(block_write) AS block_write, MAX(pids) AS pids, MAX(containers) AS containers
		FROM containers_samples WHERE service_id = ? AND at >= ? GROUP BY service_id, at / ? ORDER BY at`, id, since, step).Scan(&out).Error
	return out, err
}

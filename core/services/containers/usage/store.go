package usage

import (
	"context"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"github.com/patchbay-dev/patchbay/core/httpd/api"
	"github.com/patchbay-dev/patchbay/core/services/containers/record"
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

// addSample adds the use of one container.
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

// sampleStore holds the queries about samples. It decides nothing.
type sampleStore struct{ *record.Store }

// addSamples stores samples. Those that are there already stay.
func (r *sampleStore) addSamples(ctx context.Context, rows []sampleRecord) error {
	return r.Write(ctx, "store samples", func(_ context.Context, w *gorm.DB) error {
		return w.Clauses(clause.OnConflict{DoNothing: true}).CreateInBatches(rows, 200).Error
	})
}

// recentSamples returns the samples since a time, in the order of their times: in that of the services SQLite would read all of them.
func (r *sampleStore) recentSamples(ctx context.Context, since int64) (out []sampleRecord, err error) {
	err = r.DB(ctx).Where("at >= ?", since).Order("at").Find(&out).Error
	return out, err
}

// listSamples returns the samples of a service since a time, or one for each step where step is not 0. Times are in milliseconds.
func (r *sampleStore) listSamples(ctx context.Context, id string, since, step int64) (out []sampleRecord, err error) {
	if step == 0 {
		err = r.DB(ctx).Where("service_id = ? AND at >= ?", id, since).Order("at").Find(&out).Error
		return out, err
	}
	err = r.DB(ctx).Raw(`SELECT service_id, MAX(at) AS at, AVG(cpu) AS cpu, CAST(AVG(mem_used) AS BIGINT) AS mem_used, MAX(mem_limit) AS mem_limit, MAX(net_rx) AS net_rx,
		MAX(net_tx) AS net_tx, MAX(block_read) AS block_read, MAX(block_write) AS block_write, MAX(pids) AS pids, MAX(containers) AS containers
		FROM containers_samples WHERE service_id = ? AND at >= ? GROUP BY service_id, at / ? ORDER BY at`, id, since, step).Scan(&out).Error
	return out, err
}

// deleteSamples deletes the oldest samples that are older than a time, at most limit, and returns their number.
func (r *sampleStore) deleteSamples(ctx context.Context, before int64, limit int) (n int64, err error) {
	err = r.Write(ctx, "delete old rows", func(_ context.Context, w *gorm.DB) error {
		done := w.Exec("DELETE FROM containers_samples WHERE (service_id, at) IN (SELECT service_id, at FROM containers_samples WHERE at < ? ORDER BY at LIMIT ?)", before, limit)
		n = done.RowsAffected
		return done.Error
	})
	return n, err
}

// MonitorSettings say how the use of resources is sampled.
type MonitorSettings struct {
	Enabled        bool `json:"enabled"`
	SampleInterval int  `json:"sampleIntervalSeconds" enum:"5,10,30,60,300"`
	RetentionDays  int  `json:"retentionDays" required:"false" readOnly:"true" doc:"For how long samples are kept."`
}

// RetentionDays is for how many days samples are kept.
const RetentionDays = 7

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
		SampledAt: api.TimeOfMillis(r.At), CPUPercent: r.CPU, MemUsedBytes: r.MemUsed, MemLimitBytes: r.MemLimit, NetRxBytes: r.NetRx,
		NetTxBytes:     r.NetTx,
		BlockReadBytes: r.BlockRead, BlockWriteBytes: r.BlockWrite, PIDs: r.Pids, ContainerCount: r.Containers,
	}
}

package audit

import (
	"context"
	"time"
)

// Windows are the sums of calendar stretches in UTC.
type Windows struct {
	Today     ChartSums `json:"today"`
	Yesterday ChartSums `json:"yesterday"`
	Month     ChartSums `json:"month"`
}

// Windows returns the sums of today, yesterday and the month, in UTC.
func (l *Log) Windows(ctx context.Context) (Windows, error) {
	now := l.now().UTC()
	today := now.Truncate(24 * time.Hour)
	month := time.Date(now.Year(), now.Month(), 1, 0, 0, 0, 0, time.UTC)
	from := earlierTime(month, today.Add(-24*time.Hour))
	days, err := l.PointsOf(ctx, ScopeAll, "", StepHour, int64(24*time.Hour/time.Second), from.Unix(), now.Unix()+1)
	if err != nil {
		return Windows{}, err
	}
	var sums [3]RequestSums
	for i := range days {
		d := &days[i]
		if d.Start >= today.Unix() {
			sums[0].AddScaled(&d.RequestSums, 1)
		} else if d.Start >= today.Add(-24*time.Hour).Unix() {
			sums[1].AddScaled(&d.RequestSums, 1)
		}
		if d.Start >= month.Unix() {
			sums[2].AddScaled(&d.RequestSums, 1)
		}
	}
	return Windows{sums[0].chartSums(), sums[1].chartSums(), sums[2].chartSums()}, nil
}

package audit

import (
	"math"
	"testing"
	"time"
)

func TestQuantile(t *testing.T) {
	var s RequestSums
	if s.quantile(0.5) != 0 {
		t.Error("nothing has no latency")
	}
	for ms := range 1000 {
		s.Hist[BucketOf(time.Duration(ms)*time.Millisecond)]++
	}
	for q, want := range map[float64]float64{0.05: 50, 0.25: 250, 0.5: 500, 0.95: 950, 0.99: 990} {
		if got := s.quantile(q); math.Abs(got-want) > 5 {
			t.Errorf("quantile %v is %v, want about %v", q, got, want)
		}
	}
	if BucketOf(time.Hour) != buckets-1 || BucketOf(0) != 0 || BucketOf(5*time.Millisecond) != 1 {
		t.Error("classes")
	}
}

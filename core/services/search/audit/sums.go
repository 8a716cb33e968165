package audit

import (
	"time"
)

// RequestSums is what a row adds up.
type RequestSums struct {
	Requests   int64
	Successes  int64
	Errors     int64
	Refused    int64
	Credits    int64
	DurationUS int64
	LastAt     int64
	Hist       [buckets]int64
}

// AddScaled adds o to the sums, or subtracts it if sign is -1. The later LastAt is kept either way.
func (s *RequestSums) AddScaled(o *RequestSums, sign int64) {
	s.Requests += sign * o.Requests
	s.Successes += sign * o.Successes
	s.Errors += sign * o.Errors
	s.Refused += sign * o.Refused
	s.Credits += sign * o.Credits
	s.DurationUS += sign * o.DurationUS
	s.LastAt = max(s.LastAt, o.LastAt)
	for i := range s.Hist {
		s.Hist[i] += sign * o.Hist[i]
	}
}

func (s *RequestSums) empty() bool {
	return s.Requests == 0 && s.Successes == 0 && s.Errors == 0 && s.Refused == 0 && s.Credits == 0 && s.DurationUS == 0 &&
		s.Hist == [buckets]int64{}
}

// quantile returns the latency below which a share of the answered requests stayed, in milliseconds, interpolated within its
// class; 0 if there were none.
func (s *RequestSums) quantile(q float64) float64 {
	var total int64
	for _, n := range s.Hist {
		total += n
	}
	if total == 0 {
		return 0
	}
	rank, before := q*float64(total), 0.0
	for i, n := range s.Hist {
		if before+float64(n) < rank || n == 0 {
			before += float64(n)
			continue
		}
		low := 0.0
		if i > 0 {
			low = float64(bucketBounds[i-1])
		}
		high := low * 2
		if i < len(bucketBounds) {
			high = float64(bucketBounds[i])
		}
		return low + (high-low)*(rank-before)/float64(n)
	}
	return float64(bucketBounds[len(bucketBounds)-1])
}

// newSums returns what one request adds. A refused one has no latency.
func newSums(e *Entry) RequestSums {
	s := RequestSums{Credits: e.Credits, LastAt: e.Time.UnixMilli()}
	switch e.Outcome {
	case Success:
		s.Requests, s.Successes = 1, 1
	case Refused:
		s.Refused = 1
		return s
	default:
		s.Requests, s.Errors = 1, 1
	}
	s.DurationUS = e.Duration.Microseconds()
	s.Hist[BucketOf(e.Duration)]++
	return s
}

// BucketOf returns the class of the latency histogram that a duration falls into.
func BucketOf(d time.Duration) int {
	ms := d.Milliseconds()
	for i, bound := range bucketBounds {
		if ms < bound {
			return i
		}
	}
	return buckets - 1
}

// bucketBounds are the upper bounds of the classes in milliseconds; the last class has none.
var bucketBounds = [buckets - 1]int64{5, 10, 25, 50, 100, 250, 500, 1000, 2500, 5000, 10_000, 30_000, 60_000}

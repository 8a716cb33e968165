package access

import "time"

// ringSize is how many buckets a rolling window has: minutes of an hour, or seconds of a minute.
const ringSize = 60

// ring sums what was used in a rolling window. Buckets are numbered from the epoch on.
type ring struct {
	newest  int64
	buckets [ringSize]int64
	sum     int64
}

// advance moves the window to a bucket; it never moves back.
func (r *ring) advance(to int64) {
	gap := to - r.newest
	if gap <= 0 {
		return
	}
	for i := range min(gap, ringSize) {
		slot := (to - i) % ringSize
		r.sum -= r.buckets[slot]
		r.buckets[slot] = 0
	}
	r.newest = to
}

// containsBucket reports whether a bucket lies in the window.
func (r *ring) containsBucket(bucket int64) bool {
	return bucket > r.newest-ringSize && bucket <= r.newest
}

// add counts n in a bucket. Requests that overtake each other meet a window that has moved on; each is counted in its own
// bucket, as it is stored. After a clock that was set back the newest bucket takes what lies before them all.
func (r *ring) add(bucket, n int64) {
	if !r.containsBucket(bucket) {
		bucket = r.newest
	}
	r.buckets[bucket%ringSize] += n
	r.sum += n
}

// freedAt returns when at least n will have left the window, or, if it holds less, everything. An empty window counts
// as freed at the next bucket. unit is the length of a bucket.
func (r *ring) freedAt(now time.Time, unit time.Duration, n int64) time.Time {
	start := func(bucket int64) time.Time { return time.Unix(bucket*int64(unit/time.Second), 0).UTC() }
	last := now.Unix()/int64(unit/time.Second) + 1
	for i := int64(ringSize - 1); i >= 0; i-- {
		held := r.buckets[(r.newest-i+ringSize)%ringSize]
		if held != 0 {
			last = r.newest - i + ringSize
		}
		if n -= held; n <= 0 {
			return start(r.newest - i + ringSize)
		}
	}
	return start(last)
}

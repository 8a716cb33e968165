// Package timering keeps a value for each of the latest spans of time.
package timering

import "iter"

// Ring holds values of the latest spans. Spans are of equal length and numbered from the epoch on. A Ring is not safe for
// concurrent use.
type Ring[T any] struct{ slots []slot[T] }

// slot is the value of one span.
type slot[T any] struct {
	span  int64
	value T
}

// New makes a ring for a number of spans.
func New[T any](spans int) *Ring[T] { return &Ring[T]{slots: make([]slot[T], spans)} }

// At returns the value of a span, which must not be negative. It replaces that of a span in whose place it comes.
func (r *Ring[T]) At(span int64) *T {
	s := &r.slots[span%int64(len(r.slots))]
	if s.span != span {
		*s = slot[T]{span: span}
	}
	return &s.value
}

// Latest yields the values of as many spans as the ring has, up to newest, the oldest first. Spans without a value are left
// out.
func (r *Ring[T]) Latest(newest int64) iter.Seq[T] {
	return func(yield func(T) bool) {
		size := int64(len(r.slots))
		for span := max(newest-size+1, 0); span <= newest; span++ {
			if s := &r.slots[span%size]; s.span == span && !yield(s.value) {
				return
			}
		}
	}
}

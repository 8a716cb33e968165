package timering_test

import (
	"slices"
	"testing"

	"github.com/patchbay-dev/patchbay/core/timering"
)

func TestRing(t *testing.T) {
	r := timering.New[int](3)
	for _, span := range []int64{7, 9, 9, 10} {
		*r.At(span)++
	}
	for newest, want := range map[int64][]int{10: {2, 1}, 9: {2}, 11: {2, 1}, 12: {1}, 13: nil, 2: nil} {
		if got := slices.Collect(r.Latest(newest)); !slices.Equal(got, want) {
			t.Errorf("up to %d: %v, want %v", newest, got, want)
		}
	}
	if *r.At(7) != 0 {
		t.Error("a span that was replaced has a value")
	}
}

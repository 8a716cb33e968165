package queue

import (
	"errors"
	"fmt"
	"testing"
)

func TestPostponed(t *testing.T) {
	plain := errors.New("busy")
	for _, tt := range []struct {
		err       error
		temporary bool
		postponed bool
	}{
		{nil, false, false}, {plain, false, false}, {Temporary(plain), true, false}, {Postponed(plain), true, true},
		{Postponed(nil), false, false},
		{Temporary(fmt.Errorf("wrapped: %w", Postponed(plain))), true, true}, {errors.Join(plain, Postponed(plain)), true, true},
	} {
		if isTemporary(tt.err) != tt.temporary || isPostponed(tt.err) != tt.postponed {
			t.Errorf("%v: %v, %v", tt.err, isTemporary(tt.err), isPostponed(tt.err))
		}
	}
}

package auth

import (
	"testing"
	"time"
)

func TestReadersWhoseSessionHasEnded(t *testing.T) {
	v := Visitor{who: &Principal{}, seen: time.Now().Add(-2 * lookAgain)}
	if v.Gone() || time.Since(v.seen) > lookAgain {
		t.Error("a reader without a guard stays, and is looked at")
	}
	if Visiting(t.Context()).Gone() {
		t.Error("nobody cannot go")
	}
}

package store_test

import (
	"encoding/base64"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/store"
)

type key struct {
	At int64
	ID string
}

func TestCursorRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := key{At: rapid.Int64().Draw(t, "at"), ID: rapid.StringN(-1, 40, 200).Draw(t, "id")}
		want.ID = strings.ToValidUTF8(want.ID, "")
		s, err := store.EncodeCursor(want)
		if err != nil {
			t.Fatal(err)
		}
		var got key
		if err := store.DecodeCursor(s, &got); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatal(diff)
		}
	})
}

func TestCursorRefusesGarbage(t *testing.T) {
	enc := func(s string) string { return base64.RawURLEncoding.EncodeToString([]byte(s)) }
	tests := map[string]string{
		"empty":          "",
		"not base64":     "***",
		"padded":         base64.URLEncoding.EncodeToString([]byte(`{"v":1,"k":{}}x`)),
		"not JSON":       enc("hello"),
		"other version":  enc(`{"v":2,"k":{"At":1,"ID":"a"}}`),
		"no key":         enc(`{"v":1}`),
		"unknown member": enc(`{"v":1,"k":{"At":1,"ID":"a","x":1}}`),
		"wrong type":     enc(`{"v":1,"k":{"At":"1"}}`),
		"trailing":       enc(`{"v":1,"k":{}}{}`),
		"huge":           strings.Repeat("A", 5000),
	}
	for name, s := range tests {
		t.Run(name, func(t *testing.T) {
			var got key
			err := store.DecodeCursor(s, &got)
			if fault.CodeOf(err) != fault.InvalidArgument || fault.As(err).Ext["field"] != "cursor" {
				t.Fatalf("got %v", err)
			}
		})
	}
	if _, err := store.EncodeCursor(make(chan int)); err == nil {
		t.Error("a value that JSON cannot hold must be refused")
	}
}

func TestIDsAscend(t *testing.T) {
	now := time.UnixMilli(1_700_000_000_000)
	ids := store.NewIDs(func() time.Time { return now })
	last := ids.New("job")
	for i := range 5000 {
		if i == 2500 {
			now = now.Add(-time.Hour)
		}
		next := ids.New("job")
		if next <= last {
			t.Fatalf("%s after %s", next, last)
		}
		last = next
	}
	if id := store.NewIDs(func() time.Time { return time.UnixMilli(-5) }).New("job"); len(id) != 4+26 {
		t.Errorf("a clock before 1970: %s", id)
	}
	if a, b := store.NewID("x"), store.NewID("x"); a >= b || len(a) != 2+26 || !strings.HasPrefix(a, "x_") {
		t.Fatalf("%s %s", a, b)
	}
}

func TestTimes(t *testing.T) {
	at := time.Date(2026, 3, 4, 5, 6, 7, 89_999_999, time.FixedZone("", 3600))
	if got := store.FormatTime(at); got != "2026-03-04T04:06:07.089Z" {
		t.Error(got)
	}
	if got := store.FromMillis(store.Millis(at)); !got.Equal(at.Truncate(time.Millisecond)) || got.Location() != time.UTC {
		t.Error(got)
	}
	if store.Millis(time.Time{}) != 0 || !store.FromMillis(0).IsZero() {
		t.Error("the zero time is 0")
	}
}

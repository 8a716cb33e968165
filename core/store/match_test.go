package store_test

import (
	"slices"
	"strconv"
	"testing"

	"gorm.io/gorm"

	"github.com/patchbay-dev/patchbay/core/store"
)

// TestWhereContains looks for texts with the characters that a pattern gives a meaning to.
func TestWhereContains(t *testing.T) {
	forEach(t, func(t *testing.T, st *store.Store) {
		names := []string{"Alpha", "50% off", "500 off", "a_b", "axb", `back\slash`, "中文", "two\nlines"}
		for i, name := range names {
			if err := add(st, t.Context(), int64(i+1), name); err != nil {
				t.Fatal(err)
			}
		}
		for text, want := range map[string][]string{
			"ALPHA": {"Alpha"}, "50%": {"50% off"}, "a_b": {"a_b"}, `k\s`: {`back\slash`}, "文": {"中文"}, "nothing": nil, "": names,
			"two\nlines": {"two\nlines"},
			// These would be in two columns with a line feed between them.
			"Alpha\nAlpha": nil, "a\nA": nil, "AlphaAlpha": nil, "' OR 1=1 --": nil,
		} {
			var got []string
			err := store.WhereContains(st.DB(t.Context()).Model(&thing{}), text, "name", "name").Order("id").Pluck("name", &got).Error
			if err != nil || !slices.Equal(got, want) {
				t.Errorf("%q: %q, %v, want %q", text, got, err, want)
			}
		}
	})
}

// TestWhereIn asks for more values than a statement has parameters.
func TestWhereIn(t *testing.T) {
	forEach(t, func(t *testing.T, st *store.Store) {
		for i, name := range []string{"one", `tw"o`, "three"} {
			if err := add(st, t.Context(), int64(i+1), name); err != nil {
				t.Fatal(err)
			}
		}
		many := make([]string, 100_000)
		for i := range many {
			many[i] = "x" + strconv.Itoa(i)
		}
		many[77] = `tw"o`
		type match = func(*gorm.DB, string, []string) *gorm.DB
		for _, tt := range []struct {
			name   string
			where  match
			values []string
			want   []string
		}{
			{"in many", store.WhereIn, many, []string{`tw"o`}},
			{"not in many", store.WhereNotIn, many, []string{"one", "three"}},
			{"in none", store.WhereIn, nil, nil},
			{"not in none", store.WhereNotIn, nil, []string{"one", `tw"o`, "three"}},
		} {
			var got []string
			err := tt.where(st.DB(t.Context()).Model(&thing{}), "name", tt.values).Order("id").Pluck("name", &got).Error
			if err != nil || !slices.Equal(got, tt.want) {
				t.Errorf("%s: %q, %v, want %q", tt.name, got, err, tt.want)
			}
		}
	})
}

// TestWhereInNumbers asks for more numbers than a statement has parameters.
func TestWhereInNumbers(t *testing.T) {
	forEach(t, func(t *testing.T, st *store.Store) {
		for i := range 3 {
			if err := add(st, t.Context(), int64(i+1), strconv.Itoa(i)); err != nil {
				t.Fatal(err)
			}
		}
		many := []int64{3, 1}
		for i := range int64(100_000) {
			many = append(many, -i, 1<<40+i)
		}
		for _, tt := range []struct{ values, want []int64 }{{many, []int64{1, 3}}, {[]int64{2}, []int64{2}}, {nil, nil}} {
			var got []int64
			err := store.WhereInNumbers(st.DB(t.Context()).Model(&thing{}), "id", tt.values).Order("id").Pluck("id", &got).Error
			if err != nil || !slices.Equal(got, tt.want) {
				t.Errorf("%d numbers: %d, %v, want %d", len(tt.values), got, err, tt.want)
			}
		}
	})
}

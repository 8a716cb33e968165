package store

import (
	"strconv"
	"strings"
)

// Bind returns a statement whose parameters are written as "?" in the form of the dialect, for statements that go past gorm.
// It must hold no other "?".
func (d Dialect) Bind(sql string) string {
	if d != Postgres {
		return sql
	}
	var b strings.Builder
	n := 0
	for _, r := range sql {
		if r != '?' {
			b.WriteRune(r)
			continue
		}
		n++
		b.WriteString("$" + strconv.Itoa(n))
	}
	return b.String()
}

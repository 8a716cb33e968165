package queue

import (
	"strings"

	"github.com/patchbay-dev/patchbay/core/store"
)

// condition is part of a WHERE clause.
type condition struct {
	sql  strings.Builder
	args []any
}

// and adds a condition that must hold too.
func (c *condition) and(sql string, values ...any) {
	if c.sql.Len() > 0 {
		c.sql.WriteString(" AND ")
	}
	c.sql.WriteString(sql)
	c.args = append(c.args, values...)
}

// whereClause returns the WHERE clause, or "" without conditions.
func (c *condition) whereClause() string {
	if c.sql.Len() == 0 {
		return ""
	}
	return " WHERE " + c.sql.String()
}

// newest is the order of all lists.
const newest = " ORDER BY created_at DESC, id DESC"

// pageQuery returns the statement and its arguments for one page. An index gives the newest jobs of one type, one
// state or one of each in order, but not those of several: then each arm gives a page of ids, and the page is made of
// these.
func (f Filter) pageQuery(after *position, limit int) (string, []any) {
	switch arms := f.splitArms(); {
	case len(f.Tags) > 0:
		return f.taggedQuery(after, limit)
	case len(arms) == 1:
		return arms[0].armQuery(rowColumns, after, limit)
	default:
		return unionQuery(arms, after, limit)
	}
}

// splitArms returns filters of at most one type and one state each that together select what f selects.
func (f Filter) splitArms() []Filter {
	if f.Lock != "" || len(f.Types) < 2 && len(f.States) < 2 {
		return []Filter{f}
	}
	var out []Filter
	for _, kind := range orNone(f.Types) {
		for _, state := range orNone(f.States) {
			out = append(out, Filter{Types: kind, States: state, ExceptTypes: f.ExceptTypes, Actor: f.Actor, owner: f.owner})
		}
	}
	return out
}

// orNone returns each distinct value in a slice of its own, or one empty slice if there is no value.
func orNone[T comparable](values []T) (out [][]T) {
	seen := map[T]bool{}
	for _, v := range values {
		if !seen[v] {
			seen[v] = true
			out = append(out, []T{v})
		}
	}
	if out == nil {
		out = [][]T{nil}
	}
	return out
}

// armQuery returns the statement that selects columns of one arm.
func (f Filter) armQuery(columns string, after *position, limit int) (string, []any) {
	var c condition
	f.addColumns(&c)
	if f.Lock != "" {
		c.and("id IN (SELECT job_id FROM job_locks WHERE resource = ?)", f.Lock)
	}
	if after != nil {
		c.and("(created_at, id) < (?, ?)", after.At, after.ID)
	}
	return "SELECT " + columns + " FROM jobs" + c.whereClause() + newest + store.Limit(limit), c.args
}

// addColumns adds the conditions on columns of the job itself.
func (f Filter) addColumns(c *condition) {
	switch len(f.Types) {
	case 0:
	case 1:
		c.and("type = ?", f.Types[0])
	default:
		c.and("type IN ?", f.Types)
	}
	if len(f.ExceptTypes) > 0 {
		c.and("type NOT IN ?", f.ExceptTypes)
	}
	switch len(f.States) {
	case 0:
	case 1:
		c.and("state = ?", f.States[0])
	default:
		c.and("state IN ?", f.States)
	}
	if f.Actor != "" {
		c.and("actor = ?", f.Actor)
	}
	if f.owner != "" {
		c.and("owner = ?", f.owner)
	}
}

// unionQuery returns the statement for one page of several arms.
func unionQuery(arms []Filter, after *position, limit int) (string, []any) {
	parts := make([]string, len(arms))
	var args []any
	for i, f := range arms {
		sql, values := f.armQuery("id, created_at", after, limit)
		parts[i] = "SELECT * FROM (" + sql + ") arm"
		args = append(args, values...)
	}
	ids := "SELECT id FROM (" + strings.Join(parts, " UNION ALL ") + ") arms" + newest + store.Limit(limit)
	return "SELECT " + rowColumns + " FROM jobs WHERE id IN (" + ids + ")" + newest, args
}

// taggedQuery returns the statement for one page of the jobs with all tags of f. It walks those of the first tag,
// newest first.
func (f Filter) taggedQuery(after *position, limit int) (string, []any) {
	var c condition
	c.and("t.tag = ?", f.Tags[0])
	if after != nil {
		c.and("(t.created_at, t.job_id) < (?, ?)", after.At, after.ID)
	}
	for _, tag := range f.Tags[1:] {
		c.and("EXISTS (SELECT 1 FROM job_tags o WHERE o.tag = ? AND o.created_at = t.created_at AND o.job_id = t.job_id)", tag)
	}
	if f.Lock != "" {
		c.and("EXISTS (SELECT 1 FROM job_locks l WHERE l.resource = ? AND l.job_id = t.job_id)", f.Lock)
	}
	f.addColumns(&c)
	return "SELECT " + jobColumns + " FROM job_tags t CROSS JOIN jobs" + c.whereClause() +
		" AND jobs.id = t.job_id ORDER BY t.created_at DESC, t.job_id DESC" + store.Limit(limit), c.args
}

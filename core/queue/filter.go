package queue

import "strings"

// condition is part of a WHERE clause.
type condition struct {
	sql  strings.Builder
	args []any
}

func (c *condition) and(sql string, values ...any) {
	if c.sql.Len() > 0 {
		c.sql.WriteString(" AND ")
	}
	c.sql.WriteString(sql)
	c.args = append(c.args, values...)
}

// where is the clause, or nothing.
func (c *condition) where() string {
	if c.sql.Len() == 0 {
		return ""
	}
	return " WHERE " + c.sql.String()
}

// newest is the order of all lists.
const newest = " ORDER BY created_at DESC, id DESC LIMIT ?"

// query is the statement for one page. An index gives the newest jobs of one type, one state or one of each in order,
// but not those of several: then each gives a page of ids, and the page is made of these.
func (f Filter) query(after *position, limit int) (string, []any) {
	switch arms := f.arms(); {
	case len(f.Tags) > 0:
		return f.tagged(after, limit)
	case len(arms) == 1:
		return arms[0].arm("*", after, limit)
	default:
		return union(arms, after, limit)
	}
}

// arms are filters of at most one type and one state that together select what f selects.
func (f Filter) arms() []Filter {
	if f.Lock != "" || len(f.Types) < 2 && len(f.States) < 2 {
		return []Filter{f}
	}
	var out []Filter
	for _, kind := range orNone(f.Types) {
		for _, state := range orNone(f.States) {
			out = append(out, Filter{Types: kind, States: state, Actor: f.Actor})
		}
	}
	return out
}

// orNone gives each different value by itself, and one empty slice for none.
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

// arm selects the columns of one arm.
func (f Filter) arm(columns string, after *position, limit int) (string, []any) {
	var c condition
	f.plain(&c)
	if f.Lock != "" {
		c.and("id IN (SELECT job_id FROM job_locks WHERE resource = ?)", f.Lock)
	}
	if after != nil {
		c.and("(created_at, id) < (?, ?)", after.At, after.ID)
	}
	return "SELECT " + columns + " FROM jobs" + c.where() + newest, append(c.args, limit)
}

// plain adds what concerns columns of the job itself.
func (f Filter) plain(c *condition) {
	switch len(f.Types) {
	case 0:
	case 1:
		c.and("type = ?", f.Types[0])
	default:
		c.and("type IN ?", f.Types)
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
}

func union(arms []Filter, after *position, limit int) (string, []any) {
	parts := make([]string, len(arms))
	var args []any
	for i, f := range arms {
		sql, values := f.arm("id, created_at", after, limit)
		parts[i] = "SELECT * FROM (" + sql + ") arm"
		args = append(args, values...)
	}
	ids := "SELECT id FROM (" + strings.Join(parts, " UNION ALL ") + ") arms" + newest
	return "SELECT * FROM jobs WHERE id IN (" + ids + ") ORDER BY created_at DESC, id DESC", append(args, limit)
}

// tagged walks the jobs of the first tag, newest first.
func (f Filter) tagged(after *position, limit int) (string, []any) {
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
	f.plain(&c)
	return "SELECT jobs.* FROM job_tags t CROSS JOIN jobs" + c.where() + " AND jobs.id = t.job_id ORDER BY t.created_at DESC, t.job_id DESC LIMIT ?",
		append(c.args, limit)
}

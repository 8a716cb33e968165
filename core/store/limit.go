package store

import "strconv"

// Limit returns the end of a statement that gives at most n rows. A number in the text is better than a bound one: SQLite plans a statement
// anew each time a bound limit is set, and PostgreSQL's planner does not know it. The caller bounds n, so that there are few texts.
func Limit(n int) string { return " LIMIT " + strconv.Itoa(n) }

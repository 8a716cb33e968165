package store

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"

	"gorm.io/gorm"
)

// WhereContains adds the condition that one of the columns contains text, in any case; SQLite knows the case of ASCII
// letters alone. The columns are names in the statement, never input.
func WhereContains(q *gorm.DB, text string, columns ...string) *gorm.DB {
	operator := " LIKE ?"
	if isPostgres(q) {
		operator = " ILIKE ?"
		// PostgreSQL makes each column lower case by the rules of the locale, which takes longer than looking for the text in all at once. A
		// text without a line feed is in one of the lines if it is in all.
		if len(columns) > 1 && !strings.Contains(text, "\n") {
			columns = []string{"concat_ws(chr(10), " + strings.Join(columns, ", ") + ")"}
		}
	}
	pattern := "%" + strings.NewReplacer(`\`, `\\`, "%", `\%`, "_", `\_`).Replace(text) + "%"
	conditions, values := make([]string, len(columns)), make([]any, len(columns))
	for i, column := range columns {
		conditions[i], values[i] = column+operator+` ESCAPE '\'`, pattern
	}
	return q.Where("("+strings.Join(conditions, " OR ")+")", values...)
}

// WhereIn adds the condition that a column has one of the values. They travel as one parameter: there may be more of them
// than a statement has parameters.
func WhereIn(q *gorm.DB, column string, values []string) *gorm.DB {
	return q.Where(column+" IN "+parameterList(q), toList(values))
}

// WhereNotIn adds the condition that a column has none of the values, which may be any number.
func WhereNotIn(q *gorm.DB, column string, values []string) *gorm.DB {
	return q.Where(column+" NOT IN "+parameterList(q), toList(values))
}

// WhereInNumbers is WhereIn for numbers.
func WhereInNumbers(q *gorm.DB, column string, values []int64) *gorm.DB {
	list := make([]byte, 0, 8*len(values)+2)
	for _, v := range values {
		list = strconv.AppendInt(append(list, ','), v, 10)
	}
	text := string(bytes.TrimPrefix(list, []byte{','}))
	if isPostgres(q) {
		return q.Where(column+" = ANY (CAST(? AS BIGINT[]))", "{"+text+"}")
	}
	return q.Where(column+" IN (SELECT value FROM json_each(?))", "["+text+"]")
}

// parameterList returns the expression that takes a list apart in the database.
func parameterList(q *gorm.DB) string {
	if isPostgres(q) {
		return "(SELECT jsonb_array_elements_text(CAST(? AS jsonb)))"
	}
	return "(SELECT value FROM json_each(?))"
}

func toList(values []string) string {
	if values == nil {
		values = []string{}
	}
	// A list of strings has no part that cannot be encoded.
	raw, _ := json.Marshal(values)
	return string(raw)
}

func isPostgres(q *gorm.DB) bool { return q.Name() == string(Postgres) }

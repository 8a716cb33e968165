package store

import (
	"strings"
	"sync"

	"gorm.io/gorm/schema"
)

// Columns returns the columns of a model for the text of a statement, "p.id, p.name" for the table p and "id, name" for "". A statement
// has them instead of a *: PostgreSQL fails one that was prepared with a * before a newer core added a column. It is for variables of a
// package: a model that is no struct panics.
func Columns(model any, table string) string {
	parsed, err := schema.Parse(model, &sync.Map{}, schema.NamingStrategy{})
	if err != nil {
		panic(err)
	}
	var names []string
	for _, name := range parsed.DBNames {
		if parsed.FieldsByDBName[name].Creatable {
			names = append(names, strings.TrimPrefix(table+"."+name, "."))
		}
	}
	return strings.Join(names, ", ")
}

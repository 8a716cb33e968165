package store

import (
	"context"
	"fmt"
	"io/fs"
	"regexp"
	"strings"

	"github.com/pressly/goose/v3"
)

var (
	sqlComment = regexp.MustCompile(`--[^\n]*`)
	// addition matches a statement that older programs do not notice.
	addition = regexp.MustCompile(`(?i)^(CREATE (TABLE|INDEX|SEQUENCE)|COMMENT ON|INSERT INTO|ALTER TABLE \S+ ADD COLUMN) `)
)

// ListOthers says how to find the ids of the cores that run, on a database that several share. While there are some, Migrate only adds to
// the schema. It is called before Migrate.
func ListOthers(s *Store, list func(ctx context.Context, s *Store) ([]string, error)) {
	s.others = list
}

// isAdditive reports whether a migration only adds to the schema, so that older programs can go on with the database.
func isAdditive(statements string) bool {
	created := map[string]bool{}
	for text := range strings.SplitSeq(sqlComment.ReplaceAllString(statements, ""), ";") {
		words := strings.Fields(text)
		text = strings.ToUpper(strings.Join(words, " "))
		switch {
		case text == "":
			continue
		case !addition.MatchString(text):
			return false
		case strings.HasPrefix(text, "CREATE TABLE "):
			created[words[2]] = true
		case strings.HasPrefix(text, "INSERT ") && !created[words[2]]:
			return false
		case strings.HasPrefix(text, "ALTER ") && strings.Contains(text, " NOT NULL") && !strings.Contains(text, " DEFAULT "):
			return false
		}
	}
	return true
}

// checkOthers refuses, while other cores run, migrations after current that do more than add to the schema of a module.
func checkOthers(ctx context.Context, s *Store, m Migrations, current int64) error {
	if !s.cfg.Shared || s.others == nil {
		return nil
	}
	name, err := findDisturbing(m.FS, s.cfg.Dialect, current)
	if err != nil || name == "" {
		return err
	}
	others, err := s.others(ctx, s)
	if err != nil || len(others) == 0 {
		return err
	}
	return fmt.Errorf("migrate %s: %s changes what the running cores of this database use: stop %s, start this version, then start them with it",
		m.Module, name, strings.Join(others, ", "))
}

// findDisturbing returns the name of the first migration after current that is not additive, or "".
func findDisturbing(folder fs.FS, dialect Dialect, current int64) (string, error) {
	for _, pattern := range []string{"*.sql", string(dialect) + "/*.sql"} {
		names, err := fs.Glob(folder, pattern)
		if err != nil {
			return "", err
		}
		for _, name := range names {
			version, err := goose.NumericComponent(name)
			if err != nil || version <= current {
				continue
			}
			text, err := fs.ReadFile(folder, name)
			if err != nil {
				return "", err
			}
			if !isAdditive(string(text)) {
				return name, nil
			}
		}
	}
	return "", nil
}

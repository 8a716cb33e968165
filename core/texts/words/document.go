package words

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// Column is a column of an FTS4 table whose texts FormatColumns wrote.
type Column struct {
	// Name is the Column of terms, and SQL the column in a statement.
	Name, SQL string
}

// FormatDocumentCondition returns the condition that a row of an FTS4 table has all wanted terms and no excluded one, with its values. It
// is true where FormatMatch and FormatExcluded say so, but the database looks for the words in the texts of the row instead of the index.
func FormatDocumentCondition(terms []Term, columns []Column) (condition string, values []any) {
	all := make([]string, len(terms))
	for i, t := range terms {
		// A phrase is in one of the columns. In a named column, the words of a phrase need not be neighbours.
		texts, operator := t.formatTexts(), " OR "
		if t.Column != "" {
			operator = " AND "
		}
		var conditions []string
		for _, c := range columns {
			if t.Column != "" && t.Column != c.Name {
				continue
			}
			for _, text := range texts {
				conditions, values = append(conditions, "instr(' ' || "+c.SQL+" || ' ', ?) > 0"), append(values, text)
			}
		}
		all[i] = "(" + strings.Join(conditions, operator) + ")"
		if t.Excluded {
			all[i] = "NOT " + all[i]
		}
	}
	return strings.Join(all, " AND "), values
}

// formatTexts returns what the text of a column contains, between spaces, if it has the term: the phrase, or each word if the column is
// named.
func (t Term) formatTexts() []string {
	texts := slices.Clone(t.words)
	if t.Column == "" {
		texts = []string{strings.Join(t.words, " ")}
	}
	for i := range texts {
		texts[i] = " " + texts[i]
		if !t.prefix || i < len(texts)-1 {
			texts[i] += " "
		}
	}
	return texts
}

// shortPrefix is how many characters a prefix has at most with which many words begin.
const shortPrefix = 4

// HasShortPrefix reports whether the terms look for the words that begin with a few characters.
func HasShortPrefix(terms []Term) bool {
	return slices.ContainsFunc(terms, func(t Term) bool {
		return t.prefix && utf8.RuneCountInString(t.words[len(t.words)-1]) <= shortPrefix
	})
}

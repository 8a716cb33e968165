package words

import (
	"strconv"
	"strings"

	"github.com/patchbay-dev/patchbay/core/lists"
)

// The limits of PostgreSQL's tsvector: the highest position, and how many positions of a word are kept.
const (
	maxPosition  = 16_383
	maxPositions = 255
)

// Section is a part of a document.
type Section struct {
	// Weight is A, B, C or D, by which PostgreSQL tells the sections of a document apart.
	Weight byte
	Words  []string
}

// FormatVector returns a document as the text of a tsvector. Between two sections is a gap, so that no phrase spans them.
func FormatVector(sections []Section) string {
	places := map[string][]byte{}
	counts := map[string]int{}
	position := 0
	for _, section := range sections {
		for _, word := range section.Words {
			if position++; position > maxPosition {
				position = maxPosition
			}
			if counts[word]++; counts[word] > maxPositions {
				continue
			}
			list := places[word]
			if len(list) > 0 {
				list = append(list, ',')
			}
			places[word] = append(strconv.AppendInt(list, int64(position), 10), section.Weight)
		}
		position += 2
	}
	var b strings.Builder
	for word, list := range places {
		b.WriteString("'" + word + "':")
		b.Write(list)
		b.WriteByte(' ')
	}
	return b.String()
}

// FormatColumns returns the sections of a document as the columns of an FTS4 table have them.
func FormatColumns(sections []Section) []string {
	return lists.ConvertAll(sections, func(section Section) string { return strings.Join(section.Words, " ") })
}

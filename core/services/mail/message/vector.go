package message

import (
	"strconv"
	"strings"
)

// The limits of PostgreSQL's tsvector: the highest position, and how many positions of a word are kept.
const (
	maxPosition  = 16_383
	maxPositions = 255
)

// vector returns the document as the text of a tsvector. Between two parts is a gap, so that no phrase spans them.
func (d document) vector() string {
	places := map[string][]byte{}
	counts := map[string]int{}
	position := 0
	for _, part := range []struct {
		words  []string
		weight byte
	}{{d.subject, 'A'}, {d.sender, 'B'}, {d.recipient, 'C'}, {d.body, 'D'}} {
		for _, word := range part.words {
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
			places[word] = append(strconv.AppendInt(list, int64(position), 10), part.weight)
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

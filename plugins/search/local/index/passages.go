package index

import "encoding/binary"

// Passage is a passage of a document.
type Passage struct{ Heading, Text string }

// encodePassages makes one value of passages: each text with its length before it.
func encodePassages(all []Passage, size int) []byte {
	out := make([]byte, 0, size+len(all)*32)
	for _, p := range all {
		for _, s := range []string{p.Heading, p.Text} {
			out = binary.AppendUvarint(out, uint64(len(s)))
			out = append(out, s...)
		}
	}
	return out
}

// decodePassages reads what encodePassages has made. What is damaged ends it.
func decodePassages(value string) (out []Passage) {
	cut := func() (string, bool) {
		n, size := binary.Uvarint([]byte(value[:min(len(value), binary.MaxVarintLen64)]))
		if size <= 0 || n > uint64(len(value)-size) {
			return "", false
		}
		s := value[size : size+int(n)]
		value = value[size+int(n):]
		return s, true
	}
	for value != "" {
		heading, ok := cut()
		if !ok {
			return out
		}
		text, ok := cut()
		if !ok {
			return out
		}
		out = append(out, Passage{heading, text})
	}
	return out
}

// Package lists makes lists of other lists.
package lists

// ConvertAll returns what convert makes of each item. It is never nil, so that it is a list in JSON as well.
func ConvertAll[I, O any](items []I, convert func(I) O) []O {
	out := make([]O, len(items))
	for i, item := range items {
		out[i] = convert(item)
	}
	return out
}

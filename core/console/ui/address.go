package ui

import (
	"net/url"
	"strconv"
)

// Query returns names and values in turn as the query of an address. Empty values are left out.
func Query(pairs ...string) url.Values {
	q := url.Values{}
	for i := 0; i+1 < len(pairs); i += 2 {
		if pairs[i+1] != "" {
			q.Set(pairs[i], pairs[i+1])
		}
	}
	return q
}

// Address is that of a page with a filter: names and values of the query in turn. Empty values are left out.
func Address(path string, pairs ...string) string {
	q := Query(pairs...)
	if len(q) == 0 {
		return path
	}
	return path + "?" + q.Encode()
}

// lastPage bounds the number of a page: what stands before it cannot be counted further.
const lastPage = 100_000

// PageNumber reads the number of a page from an address: 1 for what is none, and at most 100,000.
func PageNumber(text string) int {
	n, _ := strconv.ParseInt(text, 10, 32) // what is out of range is the nearest number that is not
	return int(max(1, min(n, lastPage)))
}

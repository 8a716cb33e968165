package ui

import "net/url"

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

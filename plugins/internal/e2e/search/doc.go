// Package search holds the end-to-end tests of the search service and its backends.
package search

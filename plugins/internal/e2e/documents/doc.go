// Package documents holds the end-to-end tests of what the documents tell their readers to do.
package documents

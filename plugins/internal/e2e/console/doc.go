// Package console holds the end-to-end tests of the pages of the console, in a browser.
package console

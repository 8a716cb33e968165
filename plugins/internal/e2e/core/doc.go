// Package core holds the end-to-end tests of the core as a process: its start, its end, plugins and observation.
package core

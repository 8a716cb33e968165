// Package guard holds the tests that keep the house in order: who may import whom, what stands where, how long files
// are, and which words do not belong here. TestNames prints how the names and comments of each package stand. It has no
// code of its own.
package guard

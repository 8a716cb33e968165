// Package testkit holds what the tests of several plugins share: components that may be missing, and waiting for a
// condition. The core's tests have their own, since neither side imports the other.
package testkit

import (
	"os"
	"slices"
	"strings"
	"testing"
	"time"
)

// EnvRequire is the variable that turns skipped components into failures when it is "all".
const EnvRequire = "PATCHBAY_REQUIRE"

// EnvWithout is the variable that hides components, by their names between commas: tests behave as if they were not there.
const EnvWithout = "PATCHBAY_TEST_WITHOUT"

// Require skips the test when ok is false, with a message that names the component and hint (how to provide it). With
// PATCHBAY_REQUIRE=all it fails instead. What PATCHBAY_TEST_WITHOUT names counts as missing. The test's attribute "needs" tells "make
// test" which tests each component serves.
func Require(t testing.TB, component string, ok bool, hint string) {
	t.Helper()
	t.Attr("needs", component)
	if ok && !Hidden(component) {
		return
	}
	if os.Getenv(EnvRequire) == "all" {
		t.Fatalf("%s is required and missing: %s", component, hint)
	}
	t.Skipf("%s is missing: %s", component, hint)
}

// Hidden reports whether PATCHBAY_TEST_WITHOUT names the component.
func Hidden(component string) bool {
	return slices.Contains(strings.Split(os.Getenv(EnvWithout), ","), component)
}

// pollEvery is the pause between two calls of done by Eventually.
const pollEvery = 5 * time.Millisecond

// patience is by how much a machine may be slower than the one that waits were chosen on before a test fails for it. A test that passes
// does not wait longer.
const patience = 4

// Eventually calls done until it returns true, and fails the test with msg when that takes longer than patience times within.
func Eventually(t testing.TB, within time.Duration, done func() bool, msg string) {
	t.Helper()
	deadline := time.Now().Add(patience * within)
	for !done() {
		if time.Now().After(deadline) {
			t.Fatalf("not within %s: %s", patience*within, msg)
		}
		time.Sleep(pollEvery)
	}
}

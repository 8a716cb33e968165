// Package e2e holds the tests that run the product as its users do: the core and the plugins as processes, clients over
// HTTP, upstreams that misbehave, signals, and a look into the database afterwards. The tests of each service lie in a folder
// below, so that they run side by side; what they share is in the package kit. They know nothing of the core's packages.
package e2e

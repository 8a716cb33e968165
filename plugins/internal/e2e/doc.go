// Package e2e holds the tests that run the product as its users do: the core and the plugins as processes, clients over
// HTTP, upstreams that misbehave, signals, and a look into the database afterwards. It has no code of its own and
// knows nothing of the core's packages.
package e2e

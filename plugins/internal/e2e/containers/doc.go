// Package containers holds the end-to-end tests of the containers service on a container engine.
package containers

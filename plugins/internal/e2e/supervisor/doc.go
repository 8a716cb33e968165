// Package supervisor holds the end-to-end tests of the supervisor, in containers and as a unit of systemd.
package supervisor

// Package notify holds the end-to-end tests of notifications.
package notify

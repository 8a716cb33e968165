// Package mail holds the end-to-end tests of the mail service.
package mail

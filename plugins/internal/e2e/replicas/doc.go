// Package replicas holds the end-to-end tests of several cores on one PostgreSQL database.
package replicas

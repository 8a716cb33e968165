// Package deploy holds the end-to-end tests of packages, images and proxies.
package deploy

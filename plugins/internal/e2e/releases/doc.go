// Package releases holds the end-to-end tests of the releases service.
package releases

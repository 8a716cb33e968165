// Package kit is what the end-to-end tests share: it starts cores, browsers, upstreams and receivers, and reads what they
// have done.
package kit

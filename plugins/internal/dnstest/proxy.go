package dnstest

import (
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"sync/atomic"
	"testing"

	"github.com/patchbay-dev/patchbay/sdk/conformance"
)

// Proxy stands between a provider and the HTTP API of its vendor, and makes faults of the vendor.
type Proxy struct {
	URL   string
	fault atomic.Value
	// left is how many requests are still answered, or noLimit; once it is 0, lastLost tells whether the answer to the last
	// one is lost.
	left     atomic.Int64
	lastLost atomic.Bool
}

// noLimit is what left is while the API is not about to go down.
const noLimit = -1

// NewProxy runs a proxy to an API until the test ends.
func NewProxy(t testing.TB, target string) *Proxy {
	t.Helper()
	u, err := url.Parse(target)
	if err != nil {
		t.Fatal(err)
	}
	p := &Proxy{}
	p.fault.Store(conformance.DNSFault(""))
	p.left.Store(noLimit)
	forward := httputil.NewSingleHostReverseProxy(u)
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !p.countRequest(forward, r) {
			panic(http.ErrAbortHandler)
		}
		switch p.fault.Load() {
		case conformance.DNSDown:
			panic(http.ErrAbortHandler)
		case conformance.DNSGarbage:
			w.Header().Set("Content-Type", "text/html")
			_, _ = w.Write([]byte("<html>We are working on it.</html>"))
		case conformance.DNSLimited:
			w.Header().Set("Retry-After", "40")
			w.WriteHeader(http.StatusTooManyRequests)
		case conformance.DNSDenied:
			w.WriteHeader(http.StatusUnauthorized)
		case conformance.DNSSlow:
			_, _ = io.Copy(io.Discard, r.Body) // the end of the connection is seen only after that
			<-r.Context().Done()
		default:
			forward.ServeHTTP(w, r)
		}
	}))
	t.Cleanup(srv.Close)
	p.URL = srv.URL
	return p
}

// SetFault makes a fault until the function that it returns is called.
func (p *Proxy) SetFault(f conformance.DNSFault) (undo func()) {
	p.fault.Store(f)
	return func() { p.fault.Store(conformance.DNSFault("")) }
}

// GoDownAfter has the API answer n more requests and then none, as when its server stops, until the function that it returns is
// called. With lost, the last of them is carried out, but its answer is lost.
func (p *Proxy) GoDownAfter(n int, lost bool) (undo func()) {
	p.lastLost.Store(lost)
	p.left.Store(int64(n))
	return func() { p.left.Store(noLimit) }
}

// countRequest reports whether a request is answered.
func (p *Proxy) countRequest(forward http.Handler, r *http.Request) bool {
	for {
		left := p.left.Load()
		if left == noLimit {
			return true
		}
		if left == 0 {
			return false
		}
		if !p.left.CompareAndSwap(left, left-1) {
			continue
		}
		if left == 1 && p.lastLost.Load() {
			forward.ServeHTTP(httptest.NewRecorder(), r)
			return false
		}
		return true
	}
}

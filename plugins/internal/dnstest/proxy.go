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
}

// NewProxy runs a proxy to an API until the test ends.
func NewProxy(t testing.TB, target string) *Proxy {
	t.Helper()
	u, err := url.Parse(target)
	if err != nil {
		t.Fatal(err)
	}
	p := &Proxy{}
	p.fault.Store(conformance.DNSFault(""))
	forward := httputil.NewSingleHostReverseProxy(u)
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
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

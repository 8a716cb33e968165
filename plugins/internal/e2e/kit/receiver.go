package kit

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"
)

// Arrival is one request that came to a receiver.
type Arrival struct {
	path, Body string
	Header     http.Header
	at         time.Time
	// Code is what it is answered with.
	Code int
}

// Receiver takes posts, keeps them and answers as it is told.
type Receiver struct {
	*httptest.Server
	Host string

	Mu   sync.Mutex
	Got  []Arrival
	Code int
	// Says is the body of its answers, made from the request; nil means an empty object.
	Says func(Arrival) string
	// hold lets requests wait before they are answered.
	hold chan struct{}
}

// NewReceiver starts a receiver until the test ends.
func NewReceiver(t testing.TB) *Receiver {
	t.Helper()
	r := &Receiver{Code: http.StatusOK}
	r.Server = httptest.NewServer(http.HandlerFunc(r.serveHTTP))
	r.Host = strings.TrimPrefix(r.URL, "http://")
	t.Cleanup(func() {
		r.Release()
		r.Close()
	})
	return r
}

func (r *Receiver) serveHTTP(w http.ResponseWriter, q *http.Request) {
	body, err := io.ReadAll(q.Body)
	if err != nil {
		return
	}
	r.Mu.Lock()
	one := Arrival{q.URL.Path, string(body), q.Header.Clone(), time.Now(), r.Code}
	r.Got = append(r.Got, one)
	code, says, hold := r.Code, r.Says, r.hold
	r.Mu.Unlock()
	if hold != nil {
		select {
		case <-hold:
		case <-q.Context().Done():
			return
		}
	}
	text := "{}"
	if says != nil {
		text = says(one)
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_, _ = io.WriteString(w, text)
}

// Holds keeps requests waiting from now on, until release.
func (r *Receiver) Holds() {
	r.Mu.Lock()
	defer r.Mu.Unlock()
	r.hold = make(chan struct{})
}

// Release lets the posts go on that Holds has held.
func (r *Receiver) Release() {
	r.Mu.Lock()
	defer r.Mu.Unlock()
	if r.hold != nil {
		close(r.hold)
		r.hold = nil
	}
}

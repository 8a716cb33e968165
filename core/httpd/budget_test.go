package httpd_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/gin-gonic/gin"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/httpd"
)

// counted keeps how often each reason came.
type counted struct {
	mu sync.Mutex
	by map[string]int
}

func (c *counted) add(reason string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.by == nil {
		c.by = map[string]int{}
	}
	c.by[reason]++
}

func (c *counted) count(reason string) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.by[reason]
}

// dialFrom connects from an address of the loopback network.
func dialFrom(t *testing.T, from string, s *httpd.Server) net.Conn {
	t.Helper()
	d := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(from)}}
	conn, err := d.DialContext(t.Context(), "tcp", s.Addr())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return conn
}

// TestBodyBudget: bodies of callers who are not known take no more memory than the budget, for each address and in all.
func TestBodyBudget(t *testing.T) {
	const size = 4 << 10
	budget, refused := httpd.NewBodyBudget(3*size, 2*size), &counted{}
	holding, release := make(chan struct{}), make(chan struct{})
	s := serve(t, httpd.Options{Bodies: budget, Refused: refused.add}, httpd.Mount{Service: "a", BaseURL: "/a", Routes: []httpd.Route{
		{Method: http.MethodPost, Path: "/hold", Policy: httpd.Secret, Handler: func(c *gin.Context) {
			_, err := httpd.ReadBody(c)
			holding <- struct{}{}
			<-release
			if err != nil {
				httpd.WriteError(c, err)
			}
		}},
		{Method: http.MethodPost, Path: "/take", Policy: httpd.Secret, Handler: func(c *gin.Context) {
			if c.GetHeader("Secret") != "" {
				httpd.SetAuthenticated(c)
			}
			if _, err := httpd.ReadBody(c); err != nil {
				httpd.WriteError(c, err)
			}
		}},
	}})
	send := func(from, path string, n int, header string) *bufio.Reader {
		conn := dialFrom(t, from, s)
		if _, err := fmt.Fprintf(conn, "POST /a%s HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n%s\r\n%s", path, n, header,
			strings.Repeat("x", n)); err != nil {
			t.Fatal(err)
		}
		return bufio.NewReader(conn)
	}
	expect := func(what string, r *bufio.Reader, status int) {
		t.Helper()
		res, err := http.ReadResponse(r, nil)
		if err != nil {
			t.Fatal(err)
		}
		if res.StatusCode != status || (res.Header.Get("Retry-After") != "") != (status == http.StatusServiceUnavailable) {
			t.Errorf("%s: %d, Retry-After %q", what, res.StatusCode, res.Header.Get("Retry-After"))
		}
	}
	first, second := send("127.0.0.1", "/hold", size, ""), send("127.0.0.1", "/hold", size, "")
	<-holding
	<-holding
	expect("a third body of the address", send("127.0.0.1", "/take", size, ""), http.StatusServiceUnavailable)
	expect("a third body of the address, in chunks", chunked(t, s, size), http.StatusServiceUnavailable)
	expect("a body of a known caller", send("127.0.0.1", "/take", size, "Secret: yes\r\n"), http.StatusOK)
	expect("a body of another address", send("127.0.0.2", "/take", size, ""), http.StatusOK)
	third := send("127.0.0.2", "/hold", size, "")
	<-holding
	expect("a body beyond the budget of all", send("127.0.0.3", "/take", size, ""), http.StatusServiceUnavailable)
	close(release)
	for _, r := range []*bufio.Reader{first, second, third} {
		expect("a body that was held", r, http.StatusOK)
	}
	if refused.count(httpd.RefusedBodyClient) != 2 || refused.count(httpd.RefusedBodyTotal) != 1 || budget.Used() != 0 {
		t.Errorf("counted %v, %d bytes are taken", refused.by, budget.Used())
	}
}

// chunked sends a body whose length is not announced.
func chunked(t *testing.T, s *httpd.Server, n int) *bufio.Reader {
	conn := dialFrom(t, "127.0.0.1", s)
	if _, err := fmt.Fprintf(conn, "POST /a/take HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n0\r\n\r\n", n,
		strings.Repeat("x", n)); err != nil {
		t.Fatal(err)
	}
	return bufio.NewReader(conn)
}

// TestBudgetCountsNetworks: the addresses of one IPv6 network of 64 bits are one client.
func TestBudgetCountsNetworks(t *testing.T) {
	b := httpd.NewBodyBudget(100, 10)
	for _, tt := range []struct{ addr, refused string }{
		{"2001:db8::1", ""}, {"2001:db8::2", httpd.RefusedBodyClient}, {"2001:db8:0:1::1", ""}, {"::ffff:192.0.2.1", ""},
		{"192.0.2.1", httpd.RefusedBodyClient}, {"192.0.2.2", ""},
	} {
		if got := b.Reserve(tt.addr, 10); got != tt.refused {
			t.Errorf("%s: %q", tt.addr, got)
		}
	}
}

// TestRefusalsOfBodiesCanBeRead: a client that sends its whole body before it reads gets the answer, however early it was given.
func TestRefusalsOfBodiesCanBeRead(t *testing.T) {
	const most = 12 << 20
	refused, budget := &counted{}, httpd.NewBodyBudget(32<<20, 16<<20)
	read := func(c *gin.Context) {
		if _, err := httpd.ReadBody(c); err != nil {
			httpd.WriteError(c, err)
		}
	}
	s := serve(t, httpd.Options{Refused: refused.add, Bodies: budget}, httpd.Mount{Service: "a", BaseURL: "/a", Routes: []httpd.Route{
		{Method: http.MethodPost, Path: "/token", Policy: httpd.AccessToken, BodyLimit: most, Handler: func(c *gin.Context) {
			if c.GetHeader("Authorization") != "" {
				httpd.WriteError(c, fault.New(fault.Unauthorized, "No."))
				return
			}
			read(c)
		}},
		{Method: http.MethodPost, Path: "/secret", Policy: httpd.Secret, BodyLimit: most, Handler: func(c *gin.Context) {
			if c.GetHeader("Full") != "" {
				const others = 15 << 20
				budget.Reserve("127.0.0.1", others)
				defer budget.Release("127.0.0.1", others)
			}
			read(c)
		}},
	}})
	for _, tt := range []struct {
		name, path, header string
		size, status       int
		field              string
	}{
		{"without a token", "/token", "", most - 1, http.StatusRequestEntityTooLarge, `"header":"Authorization"`},
		{"with a wrong token", "/token", "Authorization: Bearer x\r\n", most, http.StatusUnauthorized, `"unauthorized"`},
		{"a little over the limit", "/secret", "", most + 1<<10, http.StatusRequestEntityTooLarge, `"limit":12582912`},
		{"beyond the budget", "/secret", "Full: yes\r\n", most, http.StatusServiceUnavailable, `"retry_after"`},
		{"at no address", "/nothing", "", 1<<20 + 1<<10, http.StatusRequestEntityTooLarge, `"limit"`},
	} {
		for _, announced := range []bool{true, false} {
			conn := dialFrom(t, "127.0.0.1", s)
			body := strings.Repeat("x", tt.size)
			head, framed := fmt.Sprintf("Content-Length: %d\r\n", tt.size), body
			if !announced {
				head, framed = "Transfer-Encoding: chunked\r\n", fmt.Sprintf("%x\r\n%s\r\n0\r\n\r\n", tt.size, body)
				if tt.path == "/nothing" {
					continue // Nobody reads it, so that nobody finds it too large.
				}
			}
			if _, err := io.WriteString(conn, "POST /a"+tt.path+" HTTP/1.1\r\nHost: x\r\n"+head+tt.header+"\r\n"+framed); err != nil {
				t.Errorf("%s, announced %t: send: %v", tt.name, announced, err)
				continue
			}
			res, err := http.ReadResponse(bufio.NewReader(conn), nil)
			if err != nil {
				t.Errorf("%s, announced %t: %v", tt.name, announced, err)
				continue
			}
			raw, err := io.ReadAll(res.Body)
			if err != nil || res.StatusCode != tt.status || !strings.Contains(string(raw), tt.field) {
				t.Errorf("%s, announced %t: %d %s, %v", tt.name, announced, res.StatusCode, raw, err)
			}
		}
	}
	if refused.count(httpd.RefusedBodyNoToken) != 2 || refused.count(httpd.RefusedUnauthenticated) != 2 {
		t.Errorf("counted %v", refused.by)
	}
}

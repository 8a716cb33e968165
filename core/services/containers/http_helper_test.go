package containers

import (
	"encoding/json"
	"net/http"

	"github.com/gin-gonic/gin"

	"github.com/patchbay-dev/patchbay/core/auth"
	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/httpd"
	"github.com/patchbay-dev/patchbay/core/internal/testing/webtest"
)

type guardFunc = func(c *gin.Context, service string, r httpd.Route) error

// testGuard lets in whoever names a user in a header, and lets webhooks check for themselves. What real guards check has its tests in auth.
func testGuard(c *gin.Context, _ string, r httpd.Route) error {
	if r.Policy != httpd.Forward {
		return nil
	}
	name := c.GetHeader("X-Test-User")
	if name == "" {
		return fault.New("auth_required", "Sign in first.").WithStatus(401)
	}
	who := &auth.Principal{User: auth.User{ID: "usr_" + name, Name: name, Email: name + "@example.com", Role: auth.Admin}, Via: auth.ViaKey}
	c.Request = c.Request.WithContext(auth.With(c.Request.Context(), who))
	return nil
}

// listen serves the routes of the service.
func (e *env) listen() {
	e.Helper()
	mount := mountAPI(e.svc, e.svc.settings().BaseURL)
	e.base = "http://" + webtest.Serve(e, httpd.Options{Guard: e.guard}, mount).Addr()
}

// got is an answer, read whole.
type got struct {
	status int
	header http.Header
	body   string
	json   map[string]any
}

// raw sends a request; header are names and values in turn.
func (e *env) raw(method, path, body string, header ...string) got {
	e.Helper()
	if e.base == "" {
		e.listen()
	}
	resp, text := webtest.SendJSON(e, method, e.base+path, body, header...)
	g := got{status: resp.StatusCode, header: resp.Header, body: string(text)}
	_ = json.Unmarshal(text, &g.json)
	return g
}

// send is raw as somebody who is let in.
func (e *env) send(method, path, body string) got {
	e.Helper()
	return e.raw(method, path, body, "X-Test-User", "ann")
}

func body(v any) string {
	raw, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(raw)
}

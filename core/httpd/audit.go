package httpd

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"sync"

	"github.com/gin-gonic/gin"
)

// Unaudited is the Audit of a route that changes and reveals nothing, or whose verb writes the audit itself.
const Unaudited = "-"

// Audit begins the row of a request that changes or reveals something, before its handler runs. The function that it returns
// completes the row with the status of the answer and with what the request was about.
type Audit func(c *gin.Context, action, object string) (finish func(status int, object string), err error)

// AuditAction returns what the audit calls a request of the route, "" if it is not audited. Unless the route names one, it is
// made of the service and the path of a route that changes something or asks for a passkey check: search.tokens.delete.
func (r Route) AuditAction(service string) string {
	switch {
	case r.Audit == Unaudited:
		return ""
	case r.Audit != "":
		return r.Audit
	case r.Policy == Public || r.Policy == AccessToken || !r.mayChange() && !r.Confirm:
		return ""
	}
	var words []string
	verb := map[string]string{http.MethodPost: "create", http.MethodPut: "change", http.MethodPatch: "change",
		http.MethodDelete: "delete"}[r.Method]
	segments := strings.Split(strings.Trim(r.Path, "/"), "/")
	for i, s := range segments {
		switch {
		case s == "api" || s == "system" || s == "" || strings.HasPrefix(s, ":") || strings.HasPrefix(s, "*"):
			continue
		case i > 0 && i == len(segments)-1 && r.Method == http.MethodPost && segments[i-1] != "api":
			// The last word of such a path is what is done.
			verb = ""
		}
		words = append(words, s)
	}
	if verb != "" {
		words = append(words, verb)
	}
	return service + "." + strings.ReplaceAll(strings.Join(words, "."), "-", "_")
}

// mayChange reports whether requests of the route may change something.
func (r Route) mayChange() bool {
	return !slices.Contains([]string{http.MethodGet, http.MethodHead, http.MethodOptions}, r.Method)
}

type auditKey struct{}

// auditNote holds what handlers add to the audit row of their request.
type auditNote struct {
	mu      sync.Mutex
	objects []string
}

const maxAuditObjects = 20

// NoteObject tells the audit what the request of a context is about, where its path does not say so, such as the id of what it
// has made. It must not be a secret. Outside an audited request it does nothing.
func NoteObject(ctx context.Context, object string) {
	n, ok := ctx.Value(auditKey{}).(*auditNote)
	if !ok || object == "" {
		return
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if len(n.objects) < maxAuditObjects && !slices.Contains(n.objects, object) {
		n.objects = append(n.objects, object)
	}
}

// runAudited runs a handler within an audit row.
func (w *wrapper) runAudited(c *gin.Context, action string, handler gin.HandlerFunc) {
	if action == "" || w.opts.Audit == nil {
		handler(c)
		return
	}
	note := &auditNote{}
	for _, p := range c.Params {
		note.objects = append(note.objects, strings.Trim(p.Value, "/"))
	}
	finish, err := w.opts.Audit(c, action, strings.Join(note.objects, " "))
	if err != nil {
		w.errors(c, err)
		return
	}
	c.Request = c.Request.WithContext(context.WithValue(c.Request.Context(), auditKey{}, note))
	status := http.StatusInternalServerError
	defer func() {
		note.mu.Lock()
		defer note.mu.Unlock()
		finish(status, strings.Join(note.objects, " "))
	}()
	handler(c)
	status = c.Writer.Status()
}

// runAuditedAfter runs a handler that checks its caller itself, and writes an audit row if the handler succeeded:
// callers that are refused could fill the audit.
func (w *wrapper) runAuditedAfter(c *gin.Context, action string, handler gin.HandlerFunc) {
	handler(c)
	status := c.Writer.Status()
	if action == "" || w.opts.Audit == nil || status >= http.StatusBadRequest {
		return
	}
	finish, err := w.opts.Audit(c, action, "")
	if err != nil {
		w.opts.Logger.Error("cannot write a request to the audit log", "action", action, "error", err)
		return
	}
	finish(status, "")
}

type guardedKey struct{}

// Recognised marks a request whose caller the guard has recognised, so that the audit tells who was refused.
func Recognised(ctx context.Context) context.Context {
	return context.WithValue(ctx, guardedKey{}, true)
}

package api

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/patchbay-dev/patchbay/core/auth/limit"
	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/httpd"
	"github.com/patchbay-dev/patchbay/core/services/search/access"
	"github.com/patchbay-dev/patchbay/core/services/search/api/mcp"
	"github.com/patchbay-dev/patchbay/core/services/search/proxy"
	sdk "github.com/patchbay-dev/patchbay/sdk/search"
)

// proxyHandlers serve the operations of the proxy, over HTTP and as tools of MCP.
type proxyHandlers struct {
	proxy  *proxy.Proxy
	access *access.Access
	// guessed counts tokens that were not valid.
	guessed   *limit.Limiter
	Mcp       *mcp.Endpoint
	sessions  *sharedSessions
	publicURL string
	now       func() time.Time
	state     atomic.Pointer[apiState]
	// ResearchPause is the pause between two questions for a research that a tool waits for.
	ResearchPause time.Duration
}

// Settings are the settings of the API.
type Settings struct {
	// BaseURL is where the service is mounted.
	BaseURL string
	// DevOpenAdmin lets calls without a token through.
	DevOpenAdmin bool
}

// apiState is what a reload replaces at once.
type apiState struct {
	settings Settings
	tools    *mcp.Tools
	origins  *mcp.Origins
}

// newProxyHandlers makes the handlers, without settings.
func newProxyHandlers(cfg Config) (*proxyHandlers, error) {
	guessed, err := newGuesses(cfg)
	if err != nil {
		return nil, err
	}
	sessions := &sharedSessions{cfg.Store, cfg.Cluster, cfg.Now}
	endpoint, err := mcp.New(mcp.Config{Now: cfg.Now, Keyring: cfg.Keyring, Shared: sessions})
	if err != nil {
		return nil, fmt.Errorf("make the MCP endpoint: %w", err)
	}
	return &proxyHandlers{
		proxy: cfg.Proxy, access: cfg.Access, guessed: guessed, Mcp: endpoint, publicURL: cfg.PublicURL, now: cfg.Now,
		sessions: sessions, ResearchPause: researchPause,
	}, nil
}

// Prepare checks the settings and the tools of backends, and returns what puts them into use.
func (s *API) Prepare(set Settings, backends *proxy.State) (commit func(), err error) {
	tools, err := mcpTools(backends.Descriptors())
	if err != nil {
		return nil, err
	}
	next := &apiState{settings: set, tools: tools, origins: mcp.NewOrigins(s.Proxy.publicURL, set.BaseURL)}
	return func() { s.Proxy.state.Store(next) }, nil
}

// HandlePost serves the operations that take a JSON body.
func (h *proxyHandlers) HandlePost(operation string) gin.HandlerFunc {
	return func(c *gin.Context) {
		if err := h.servePost(c, operation); err != nil {
			writeError(c, err)
		}
	}
}

// servePost authenticates a POST request of an operation, reads its body and answers it.
func (h *proxyHandlers) servePost(c *gin.Context, operation string) error {
	st := h.proxy.State()
	header, given := bearerToken(c.Request.Header)
	var tok *access.Token
	var err error
	if given {
		if tok, err = h.authenticateToken(c, header); err != nil {
			return err
		}
	}
	op, known := st.Operation(operation)
	raw, err := httpd.ReadBody(c)
	if err != nil {
		return err
	}
	in, err := proxy.ParseInput(raw, op.Want)
	if err != nil {
		return err
	}
	text := header
	if tok == nil {
		text = in.Token
		if tok, err = h.identifyWithoutHeader(c, text); err != nil {
			return err
		}
	}
	if !known {
		return fault.New(fault.NotFound, "The search backend does not offer %s.", operation)
	}
	if err := in.Validate(op.Operation, text, in.Token); err != nil {
		return err
	}
	return h.writeAnswer(c, st, &proxy.Call{
		Token: tok, Op: op, In: in, Query: "", Size: len(raw), RequestID: httpd.RequestID(c), Client: httpd.ClientAddr(c),
		Project: projectName(c),
	})
}

// identifyWithoutHeader returns the token of a request that has none in its header. text is the token found
// elsewhere, or "".
func (h *proxyHandlers) identifyWithoutHeader(c *gin.Context, text string) (*access.Token, error) {
	set := h.state.Load().settings
	switch {
	case text != "":
		return h.authenticateToken(c, text)
	case set.DevOpenAdmin:
		// Nothing but the address lets such a call in: a page of another site may have made a browser send it.
		if http.NewCrossOriginProtection().Check(c.Request) != nil ||
			!httpd.IsOwnHost(c.Request.Host, h.publicURL, set.BaseURL) {
			return nil, fault.New(fault.Forbidden, "The request comes from another site.")
		}
		httpd.SetAuthenticated(c)
		return h.access.Table().BuiltinToken(), nil
	}
	return nil, access.Unauthorized("The access token is missing.")
}

// MaxProject bounds the name of a project. A longer name is ignored.
const MaxProject = 200

// projectName returns the client's name for its project, which only influences the choice of the upstream key.
func projectName(c *gin.Context) string {
	if v := c.Request.Header["X-Project-Id"]; len(v) == 1 && len(v[0]) <= MaxProject {
		return v[0]
	}
	return ""
}

// bearerToken returns the token of the Authorization header. given is false for a scheme other than Bearer. Two
// headers give an empty token.
func bearerToken(h http.Header) (text string, given bool) {
	values := h["Authorization"]
	if len(values) == 0 {
		return "", false
	}
	scheme, rest, _ := strings.Cut(values[0], " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return "", false
	}
	if len(values) > 1 {
		return "", true
	}
	return strings.TrimSpace(rest), true
}

func (h *proxyHandlers) handleResearchResult(c *gin.Context) {
	if err := h.researchResult(c); err != nil {
		writeError(c, err)
	}
}

func (h *proxyHandlers) researchResult(c *gin.Context) error {
	st := h.proxy.State()
	tok, err := h.headerToken(c)
	if err != nil {
		return err
	}
	op, known := st.Operation(sdk.OpResearchResult)
	if !known {
		return fault.New(fault.NotFound, "The search backend does not offer research.")
	}
	id := c.Param("request_id")
	if len(id) > proxy.MaxResourceID {
		return fault.InvalidField("request_id", "The research id has more than %d characters.", proxy.MaxResourceID)
	}
	// Whose research it is comes before the quota: a foreign id costs nothing.
	if _, err := h.proxy.FindResearch(c.Request.Context(), id, tok.Id); err != nil {
		return err
	}
	return h.writeAnswer(c, st, &proxy.Call{
		Token: tok, Op: op, Resource: id, Query: researchQuery(c), RequestID: httpd.RequestID(c), Client: httpd.ClientAddr(c),
		Project: projectName(c),
	})
}

// researchQuery returns the part of the query that the upstream understands.
func researchQuery(c *gin.Context) string {
	if v, ok := c.GetQuery("include_usage"); ok {
		if on, err := strconv.ParseBool(v); err == nil {
			return "include_usage=" + strconv.FormatBool(on)
		}
	}
	return ""
}

// headerToken returns the token of a request without a body.
func (h *proxyHandlers) headerToken(c *gin.Context) (*access.Token, error) {
	if text, given := bearerToken(c.Request.Header); given {
		return h.authenticateToken(c, text)
	}
	return h.identifyWithoutHeader(c, "")
}

// writeAnswer performs the call and writes its answer.
func (h *proxyHandlers) writeAnswer(c *gin.Context, st *proxy.State, call *proxy.Call) error {
	ans, err := h.proxy.Perform(c.Request.Context(), st, call)
	h.rateHeaders(c, call.Token)
	if err != nil {
		return err
	}
	defer ans.Reply.Release()
	if isLibrary(c.GetHeader("User-Agent")) {
		h.access.NoteClient(c.Request.Context(), call.Token, access.ClientLibrary)
	}
	header := c.Writer.Header()
	if ans.Head.RetryAfter != "" {
		header["Retry-After"] = []string{ans.Head.RetryAfter}
	}
	if ans.CachePolicy {
		header["X-Cache"] = []string{cacheWord[ans.Cached]}
	}
	if !strings.HasPrefix(ans.Head.ContentType, "application/json") {
		// An upstream's page or picture is data here: it runs nothing and embeds nothing.
		header["Content-Security-Policy"] = []string{"sandbox; default-src 'none'"}
	}
	if ans.Stream != nil {
		h.writeStream(c, ans)
		return nil
	}
	httpd.WriteBody(c, ans.Head.Status, ans.Head.ContentType, ans.Body())
	return nil
}

// cacheWord is the value of X-Cache.
var cacheWord = map[bool]string{true: "HIT", false: "MISS"}

// writeStream writes a streamed answer and flushes each chunk. There is no idle limit: an upstream may take minutes.
func (h *proxyHandlers) writeStream(c *gin.Context, ans *proxy.Answer) {
	defer ans.Stream.Close()
	ended := false
	defer func() {
		if !ended {
			ans.Finish(0, fault.New(fault.Internal, "The stream ended in a panic."))
		}
	}()
	header := c.Writer.Header()
	header.Set("Content-Type", ans.Head.ContentType)
	httpd.StreamHeaders(header)
	c.Writer.WriteHeader(ans.Head.Status)
	rc := http.NewResponseController(c.Writer)
	_ = rc.Flush()
	written, err := proxy.CopyStream(ans.Stream, func(p []byte) error {
		_ = rc.SetWriteDeadline(time.Now().Add(time.Minute))
		if _, err := c.Writer.Write(p); err != nil {
			return err
		}
		return rc.Flush()
	})
	ended = true
	ans.Finish(written, err)
	if err != nil {
		if fault.CodeOf(err) != fault.ClientClosedRequest {
			httpd.SetError(c, err)
		}
		// The status is out already: a cut connection is the only way to say that the answer is not whole.
		panic(http.ErrAbortHandler)
	}
}

// rateHeaders sets the headers of the token's hourly window.
func (h *proxyHandlers) rateHeaders(c *gin.Context, t *access.Token) {
	h.limitHeaders(c.Writer.Header(), t)
}

func (h *proxyHandlers) limitHeaders(header http.Header, t *access.Token) {
	now := h.now()
	limit, remaining, reset := t.HourlyWindow(now)
	header["X-Ratelimit-Limit"] = []string{strconv.FormatInt(limit, 10)}
	header["X-Ratelimit-Remaining"] = []string{strconv.FormatInt(remaining, 10)}
	header["X-Ratelimit-Reset"] = []string{strconv.FormatInt(httpd.RetrySeconds(reset.Sub(now)), 10)}
}

// isLibrary reports whether a user agent is that of a library rather than of a tool that people use by hand.
func isLibrary(userAgent string) bool {
	name := strings.ToLower(strings.TrimSpace(userAgent))
	if name == "" {
		return false
	}
	for _, prefix := range byHand {
		if strings.HasPrefix(name, prefix) {
			return false
		}
	}
	return true
}

// byHand are the beginnings of the user agents of tools that people use by hand, in lower case.
var byHand = []string{"curl/", "wget/", "mozilla/", "httpie/", "xh/", "postmanruntime/", "insomnia/", "bruno", "powershell/"}

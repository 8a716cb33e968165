package search

import (
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/httpd"
	sdk "github.com/patchbay-dev/patchbay/sdk/search"
)

// handlePost serves the operations that take a JSON body.
func (s *Service) handlePost(operation string) gin.HandlerFunc {
	return func(c *gin.Context) {
		if err := s.servePost(c, operation); err != nil {
			s.writeError(c, err)
		}
	}
}

// servePost authenticates a POST request of an operation, reads its body and answers it.
func (s *Service) servePost(c *gin.Context, operation string) error {
	st := s.state.Load()
	header, given := bearerToken(c.Request.Header)
	var tok *token
	var err error
	if given {
		if tok, err = s.authenticate(c, header); err != nil {
			return err
		}
	}
	op, known := st.operations[operation]
	raw, err := httpd.ReadBody(c)
	if err != nil {
		return err
	}
	in, err := parseInput(raw, op.want)
	if err != nil {
		return err
	}
	text := header
	if tok == nil {
		text = in.token
		if tok, err = s.identifyWithoutHeader(c, st, text); err != nil {
			return err
		}
	}
	if !known {
		return fault.New(fault.NotFound, "The search backend does not offer %s.", operation)
	}
	if err := in.validate(op.Operation, text, in.token); err != nil {
		return err
	}
	return s.writeAnswer(c, st, &call{
		token: tok, op: op, in: in, query: "", size: len(raw), requestID: httpd.RequestID(c), client: httpd.ClientAddr(c), project: projectName(c),
	})
}

// identifyWithoutHeader returns the token of a request that has none in its header. text is the token found
// elsewhere, or "".
func (s *Service) identifyWithoutHeader(c *gin.Context, st *state, text string) (*token, error) {
	switch {
	case text != "":
		return s.authenticate(c, text)
	case st.settings.DevOpenAdmin:
		// Nothing but the address lets such a call in: a page of another site may have made a browser send it.
		if http.NewCrossOriginProtection().Check(c.Request) != nil || !httpd.IsOwnHost(c.Request.Host, s.cfg.PublicURL, st.settings.BaseURL) {
			return nil, fault.New(fault.Forbidden, "The request comes from another site.")
		}
		httpd.SetAuthenticated(c)
		return s.tokens.builtinToken(), nil
	}
	return nil, errToken("The access token is missing.")
}

// maxProject bounds the name of a project. A longer name is ignored.
const maxProject = 200

// projectName returns the client's name for its project, which only influences the choice of the upstream key.
func projectName(c *gin.Context) string {
	if v := c.Request.Header["X-Project-Id"]; len(v) == 1 && len(v[0]) <= maxProject {
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

func (s *Service) handleResearchResult(c *gin.Context) {
	if err := s.researchResult(c); err != nil {
		s.writeError(c, err)
	}
}

const maxResourceID = 200

func (s *Service) researchResult(c *gin.Context) error {
	st := s.state.Load()
	tok, err := s.headerToken(c, st)
	if err != nil {
		return err
	}
	op, known := st.operations[sdk.OpResearchResult]
	if !known {
		return fault.New(fault.NotFound, "The search backend does not offer research.")
	}
	id := c.Param("request_id")
	if len(id) > maxResourceID {
		return invalidField("request_id", "The research id has more than %d characters.", maxResourceID)
	}
	// Whose research it is comes before the quota: a foreign id costs nothing.
	if _, err := s.findResearch(c.Request.Context(), id, tok.id); err != nil {
		return err
	}
	return s.writeAnswer(c, st, &call{
		token: tok, op: op, resource: id, query: researchQuery(c), requestID: httpd.RequestID(c), client: httpd.ClientAddr(c), project: projectName(c),
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
func (s *Service) headerToken(c *gin.Context, st *state) (*token, error) {
	if text, given := bearerToken(c.Request.Header); given {
		return s.authenticate(c, text)
	}
	return s.identifyWithoutHeader(c, st, "")
}

// writeAnswer performs the call and writes its answer.
func (s *Service) writeAnswer(c *gin.Context, st *state, call *call) error {
	ans, err := s.performCall(c.Request.Context(), st, call)
	s.rateHeaders(c, call.token)
	if err != nil {
		return err
	}
	defer ans.reply.Release()
	if isLibrary(c.GetHeader("User-Agent")) {
		s.noteClient(c.Request.Context(), call.token, clientLibrary)
	}
	h := c.Writer.Header()
	if ans.head.RetryAfter != "" {
		h["Retry-After"] = []string{ans.head.RetryAfter}
	}
	if ans.policy {
		h["X-Cache"] = []string{cacheWord[ans.cached]}
	}
	if !strings.HasPrefix(ans.head.ContentType, "application/json") {
		// An upstream's page or picture is data here: it runs nothing and embeds nothing.
		h["Content-Security-Policy"] = []string{"sandbox; default-src 'none'"}
	}
	if ans.stream != nil {
		s.writeStream(c, ans)
		return nil
	}
	httpd.WriteBody(c, ans.head.Status, ans.head.ContentType, ans.body())
	return nil
}

// cacheWord is the value of X-Cache.
var cacheWord = map[bool]string{true: "HIT", false: "MISS"}

// writeStream writes a streamed answer and flushes each chunk. There is no idle limit: an upstream may take minutes.
func (s *Service) writeStream(c *gin.Context, ans *answer) {
	defer ans.stream.Close()
	ended := false
	defer func() {
		if !ended {
			ans.finish(0, fault.New(fault.Internal, "The stream ended in a panic."))
		}
	}()
	h := c.Writer.Header()
	h.Set("Content-Type", ans.head.ContentType)
	httpd.StreamHeaders(h)
	c.Writer.WriteHeader(ans.head.Status)
	rc := http.NewResponseController(c.Writer)
	_ = rc.Flush()
	written, err := copyStream(ans.stream, func(p []byte) error {
		_ = rc.SetWriteDeadline(time.Now().Add(time.Minute))
		if _, err := c.Writer.Write(p); err != nil {
			return err
		}
		return rc.Flush()
	})
	ended = true
	ans.finish(written, err)
	if err != nil {
		if fault.CodeOf(err) != fault.ClientClosedRequest {
			httpd.SetError(c, err)
		}
		// The status is out already: a cut connection is the only way to say that the answer is not whole.
		panic(http.ErrAbortHandler)
	}
}

// rateHeaders sets the headers of the token's hourly window.
func (s *Service) rateHeaders(c *gin.Context, t *token) { s.limitHeaders(c.Writer.Header(), t) }

func (s *Service) limitHeaders(h http.Header, t *token) {
	now := s.cfg.Now()
	remaining, reset := t.counter.hourlyWindow(now, t.limits.RequestsHour)
	h["X-Ratelimit-Limit"] = []string{strconv.FormatInt(t.limits.RequestsHour, 10)}
	h["X-Ratelimit-Remaining"] = []string{strconv.FormatInt(remaining, 10)}
	h["X-Ratelimit-Reset"] = []string{strconv.FormatInt(httpd.RetrySeconds(reset.Sub(now)), 10)}
}

// writeError writes an error with the members that the upstream's own clients read.
func (s *Service) writeError(c *gin.Context, err error) {
	e := fault.As(err)
	if (e.Code == fault.BadRequest || e.Code == fault.InvalidArgument) && e.HTTPStatus() == http.StatusBadRequest {
		// What the listener refuses has the word that this service has for it.
		own := *e
		own.Code = fault.InvalidRequest
		e = &own
	}
	body := httpd.ErrorBody(c, e)
	body["error"] = e.Code
	body["detail"] = map[string]string{"error": e.Message}
	httpd.WriteErrorBody(c, e, body)
}

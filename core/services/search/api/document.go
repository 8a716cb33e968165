package api

import (
	"maps"
	"net/http"
	"strconv"

	"github.com/danielgtaylor/huma/v2"

	"github.com/patchbay-dev/patchbay/core/httpd/api"
	sdk "github.com/patchbay-dev/patchbay/sdk/search"
)

// documentProxy adds the hot and streaming routes, which handlers of their own serve.
func (h *proxyHandlers) documentProxy(a *api.API) {
	operations := h.proxyOperations(a)
	for _, r := range h.plainRoutes() {
		a.Document(r, operations[r.Method+" "+r.Path])
	}
}

// proxyError is the error body of the proxy: the common one and what the upstream's own clients read.
type proxyError struct {
	api.Body
	Error  string `json:"error" doc:"The same as code."`
	Detail struct {
		Error string `json:"error" doc:"The same as message."`
	} `json:"detail"`
	Scope   string   `json:"scope,omitempty" enum:"requests,credits" doc:"With 429: what is used up."`
	Window  string   `json:"window,omitempty" enum:"minute,hour,day,month"`
	Limit   int64    `json:"limit,omitempty"`
	Used    int64    `json:"used,omitempty"`
	ResetAt api.Time `json:"reset_at,omitempty,omitzero"`
	Needed  int64    `json:"needed,omitempty" doc:"The credits that the call would have reserved, where they did not fit."`
}

// proxied is an answer of the upstream's, whose members this service does not define.
type proxied struct {
	_ struct{} `additionalProperties:"true"`
}

func (h *proxyHandlers) proxyOperations(a *api.API) map[string]huma.Operation {
	post := func(id, operation, summary, example string) huma.Operation {
		content := api.JSON(h.bodySchema(operation))
		content["application/json"].Example = jsonText(example)
		return huma.Operation{
			OperationID: id, Summary: summary, Tags: []string{tagProxy}, RequestBody: &huma.RequestBody{Required: true, Content: content},
			Description: "The members are those that the backend describes; others go to it unchanged.", Responses: h.proxyAnswers(a, http.StatusOK),
		}
	}
	research := post("research", sdk.OpResearch, "Begin a research", `{"input": "What is a patch bay?"}`)
	research.Responses["201"] = &huma.Response{Description: "The research has begun", Content: api.JSON(api.Schema[proxied](a))}
	research.Responses["200"].Content["text/event-stream"] = &huma.MediaType{Schema: &huma.Schema{Type: huma.TypeString}}
	result := huma.Operation{
		OperationID: "research-result", Summary: "Result of a research", Tags: []string{tagProxy}, Responses: h.proxyAnswers(a, http.StatusOK),
		Parameters: []*huma.Param{pathParam("request_id"),
			{Name: "include_usage", In: "query", Schema: &huma.Schema{Type: huma.TypeBoolean},
				Description: "Report the credits that the research cost."}},
	}
	result.Responses["202"] = &huma.Response{Description: "The research is still running", Content: api.JSON(api.Schema[proxied](a))}
	usage := huma.Operation{OperationID: "usage", Summary: "What the token has used", Tags: []string{tagProxy},
		Responses: map[string]*huma.Response{
			"200": {Description: "OK", Headers: rateLimitHeaders(), Content: api.JSON(api.Schema[usageBody](a))},
			"401": {Description: "No token, or one that is not valid", Content: api.JSON(api.Schema[proxyError](a))},
			"429": {Description: "Too many tokens that are not valid", Content: api.JSON(api.Schema[proxyError](a))},
		}}
	health := huma.Operation{OperationID: "health", Summary: "Is the service alive", Tags: []string{tagPublic},
		Metadata: map[string]any{api.AnyQuery: true}, Responses: map[string]*huma.Response{
			"200": {Description: "ok", Content: map[string]*huma.MediaType{"text/plain": {Schema: &huma.Schema{Type: huma.TypeString}}}},
		}}
	return map[string]huma.Operation{
		"POST /api/proxy/search":              post("search", sdk.OpSearch, "Search", `{"query": "patch bay", "max_results": 5}`),
		"POST /api/proxy/extract":             post("extract", sdk.OpExtract, "Text of pages", `{"urls": ["https://example.com"]}`),
		"POST /api/proxy/crawl":               post("crawl", sdk.OpCrawl, "Pages of a site", `{"url": "https://example.com", "limit": 10}`),
		"POST /api/proxy/map":                 post("map", sdk.OpMap, "Addresses of a site", `{"url": "https://example.com"}`),
		"POST /api/proxy/research":            research,
		"GET /api/proxy/research/:request_id": result,
		"GET /api/proxy/usage":                usage,
		"GET /health":                         health,
		"POST /mcp":                           h.mcpOperation(a, "mcp", "Messages of the Model Context Protocol"),
		"DELETE /mcp":                         h.mcpOperation(a, "mcp-end", "End an MCP session"),
		// Clients write the address with a slash at its end, too, which the document need not tell.
		"POST /mcp/":   {Hidden: true, Responses: map[string]*huma.Response{}},
		"DELETE /mcp/": {Hidden: true, Responses: map[string]*huma.Response{}},
	}
}

// jsonText is JSON that stands in the document as it is.
type jsonText string

// MarshalJSON implements json.Marshaler.
func (j jsonText) MarshalJSON() ([]byte, error) { return []byte(j), nil }

func pathParam(name string) *huma.Param {
	return &huma.Param{Name: name, In: "path", Required: true, Schema: &huma.Schema{Type: huma.TypeString}}
}

// proxyAnswers returns the answers that all operations of the proxy have.
func (h *proxyHandlers) proxyAnswers(a *api.API, success int) map[string]*huma.Response {
	body := func(text string) *huma.Response {
		return &huma.Response{Description: text, Content: api.JSON(api.Schema[proxyError](a))}
	}
	limited := body("A limit of the token is used up")
	limited.Headers = rateLimitHeaders()
	limited.Headers["Retry-After"] = &huma.Param{Schema: &huma.Schema{Type: huma.TypeInteger},
		Description: "Seconds until it may be tried again."}
	return map[string]*huma.Response{
		strconv.Itoa(success): {Description: "The upstream's answer", Headers: rateLimitHeaders(), Content: api.JSON(api.Schema[proxied](a))},
		"400":                 body("The body is not valid"),
		"401":                 body("No token, or one that is not valid"),
		"404":                 body("No backend offers this, or there is no such research"),
		"408":                 body("The body did not arrive in time"),
		"413":                 body("The body is too large"),
		"429":                 limited,
		"500":                 body("Something went wrong on our side"),
		"502":                 body("The upstream cannot be reached, or no upstream key can be used"),
		"504":                 body("The upstream did not answer in time"),
	}
}

func rateLimitHeaders() map[string]*huma.Param {
	number := func(text string) *huma.Param {
		return &huma.Param{Schema: &huma.Schema{Type: huma.TypeInteger}, Description: text}
	}
	return map[string]*huma.Param{
		"X-RateLimit-Limit":     number("Requests that the token may make in a rolling hour."),
		"X-RateLimit-Remaining": number("How many of them are left."),
		"X-RateLimit-Reset":     number("Seconds until the oldest of them counts no more."),
	}
}

func (h *proxyHandlers) mcpOperation(a *api.API, id, summary string) huma.Operation {
	anything := &huma.Schema{}
	op := huma.Operation{
		OperationID: id, Summary: summary, Tags: []string{tagMCP}, Description: "Streamable HTTP, for clients with sessions and without.",
		// Its handler knows the token's parameter in any case, and clients add parameters of their own.
		Metadata: map[string]any{api.AnyQuery: true},
		Security: []map[string][]string{{"accessToken": {}}, {"queryToken": {}}},
		Responses: map[string]*huma.Response{
			"200": {Description: "JSON-RPC answers",
				Content: map[string]*huma.MediaType{"application/json": {Schema: anything},
					"text/event-stream": {Schema: &huma.Schema{Type: huma.TypeString}}}},
			"202": {Description: "Nothing to answer"}, "204": {Description: "The session has ended"},
		},
	}
	common := h.proxyAnswers(a, http.StatusOK)
	for _, code := range []string{"401", "404", "413", "429"} {
		op.Responses[code] = common[code]
	}
	op.Responses["400"] = &huma.Response{Description: "Not a message of the protocol: a JSON-RPC error", Content: api.JSON(anything)}
	op.Responses["403"] = &huma.Response{Description: "A foreign origin or host", Content: api.JSON(api.Schema[proxyError](a))}
	if id == "mcp" || id == "mcp-slash" {
		op.RequestBody = &huma.RequestBody{Required: true, Content: api.JSON(anything)}
	}
	return op
}

// documentEvents returns the description of a stream of requests.
func (h *logHandlers) documentEvents(a *api.API, id, tag, summary string) huma.Operation {
	text := &huma.Schema{Type: huma.TypeString}
	op := huma.Operation{
		OperationID: id, Summary: summary, Tags: []string{tag},
		Description: "Server-sent events \"request\", with the row as in the list and its id; \"lagged\" tells a reader that was too slow to read the list again. Last-Event-ID resumes.",
		Responses: map[string]*huma.Response{
			"200": {Description: "The stream", Content: map[string]*huma.MediaType{"text/event-stream": {Schema: text}}},
		},
	}
	op.Parameters = []*huma.Param{{Name: "afterId", In: "query", Schema: &huma.Schema{Type: huma.TypeInteger},
		Description: "The same as Last-Event-ID; the larger counts."}}
	for _, name := range []string{"auth_token_id", "key_id", "operation", "result"} {
		op.Parameters = append(op.Parameters, &huma.Param{Name: name, In: "query", Schema: text})
	}
	maps.Copy(op.Responses, denialResponses(a))
	return op
}

func denialResponses(a *api.API) map[string]*huma.Response {
	return map[string]*huma.Response{"401": a.ErrorResponse("Unauthorized"), "403": a.ErrorResponse("Forbidden"),
		"429": a.ErrorResponse("Too many API keys that are not valid"), "500": a.ErrorResponse("Internal Server Error")}
}

func (h *keyHandlers) keysOperation(a *api.API, id, summary, text string) huma.Operation {
	op := huma.Operation{
		OperationID: id, Summary: summary, Description: text, Tags: []string{tagKeys},
		RequestBody: &huma.RequestBody{Required: true, Content: api.JSON(api.Schema[keysInput](a))},
		Responses: map[string]*huma.Response{
			"200": {Description: "OK", Content: api.JSON(api.Schema[validation](a))},
			"400": a.ErrorResponse("Bad Request"), "408": a.ErrorResponse("The body did not arrive in time"),
			"409": a.ErrorResponse("No backend needs keys"), "413": a.ErrorResponse("The body is too large"),
		},
	}
	op.Responses["200"].Content["text/event-stream"] = &huma.MediaType{Schema: &huma.Schema{Type: huma.TypeString}}
	maps.Copy(op.Responses, denialResponses(a))
	return op
}

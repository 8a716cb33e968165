// Package api is the HTTP API of the search service: the proxy, MCP, and the administration of tokens, keys and requests.
package api

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/httpd"
	"github.com/patchbay-dev/patchbay/core/httpd/api"
	"github.com/patchbay-dev/patchbay/core/services/search/access"
)

// API is the HTTP API of the service.
type API struct {
	version string
	Proxy   *proxyHandlers
	users   *userHandlers
	tokens  *tokenHandlers
	keys    *keyHandlers
	logs    *logHandlers
}

// New makes the API. Prepare gives it its settings.
func New(cfg Config) (*API, error) {
	proxy, err := newProxyHandlers(cfg)
	if err != nil {
		return nil, err
	}
	a := &API{
		version: orDev(cfg.Version), Proxy: proxy, tokens: &tokenHandlers{cfg.Access, cfg.Log}, keys: &keyHandlers{cfg.Keys, cfg.Log},
		logs: &logHandlers{cfg.Log, cfg.Catalog},
	}
	a.users = &userHandlers{access: cfg.Access, keys: cfg.Keys, tokens: a.tokens, logs: a.logs, sessions: cfg.Sessions}
	return a, nil
}

// Mount returns the routes of the API below a base URL.
func (s *API) Mount(baseURL string) httpd.Mount {
	return httpd.Mount{Service: "search", BaseURL: baseURL, Routes: s.declareOperations(baseURL).Routes(), Errors: writeError}
}

// declareOperations declares all JSON endpoints of the service.
func (s *API) declareOperations(baseURL string) *api.API {
	a := api.New(api.Config{
		Title: "Patchbay search", Version: s.version, BaseURL: baseURL, Invalid: fault.InvalidRequest, Errors: writeError, KnownQueryOnly: true,
		Description: "A token-gated search proxy over a pool of upstream keys, with quotas and an audit, and the administration of it.",
		Tags: []*huma.Tag{
			{Name: tagProxy, Description: "Called with an access token. Answers are the upstream's own, unchanged."},
			{Name: tagMCP, Description: "The same operations for clients of the Model Context Protocol."},
			{Name: tagUser, Description: "What a user may see: the own tokens, their quota and their requests."},
			{Name: tagPublic}, {Name: tagTokens}, {Name: tagKeys}, {Name: tagLogs}, {Name: tagCharts},
		},
		Security: map[string]*huma.SecurityScheme{
			"accessToken": {Type: "http", Scheme: "bearer", BearerFormat: "th-…",
				Description: "An access token of this service. On POST it may stand in the body's member api_key instead."},
			"queryToken": {Type: "apiKey", In: "query", Name: queryToken, Description: "An access token, for MCP clients that can send no header."},
		},
	})
	s.Proxy.documentProxy(a)
	s.users.userAPI(a)
	s.tokens.tokenAPI(a)
	s.keys.keyAPI(a)
	s.logs.logAPI(a)
	return a
}

func orDev(version string) string {
	if version == "" {
		return "0.0.0-dev"
	}
	return version
}

func (h *userHandlers) userAPI(a *api.API) {
	user := func(id, method, path, summary string, errors ...int) api.Operation {
		return withPolicy(adminOperation(id, method, path, tagUser, summary, errors...), httpd.APIKey)
	}
	api.Register(a, withPolicy(adminOperation("summary", http.MethodGet, "/api/summary", tagPublic, "Public figures"), httpd.Public),
		h.showSummary)
	api.Register(a, auditReveal(withText(user("user-token", http.MethodGet, "/api/user/token", "The caller's access token", notFound),
		"The first of the caller's tokens that can be used.")), h.userToken)
	api.Register(a, user("user-dashboard", http.MethodGet, "/api/user/dashboard", "What the caller's tokens have used"), h.showDashboard)
	api.Register(a, withText(withStatus(user("user-logout", http.MethodPost, "/api/user/logout", "Sign out"), http.StatusNoContent),
		"Ends the session and takes its cookie away. Without a session it does nothing."), h.endSession)
	api.Register(a, user("user-tokens", http.MethodGet, "/api/user/tokens", "The caller's access tokens"), h.userTokens)
	api.Register(a, user("user-token-get", http.MethodGet, "/api/user/tokens/{id}", "One of them", notFound), h.userGet)
	api.Register(a, requireConfirmation(user("user-token-secret", http.MethodGet, "/api/user/tokens/{id}/secret", "Show the token again",
		notFound)), h.userShow)
	api.Register(a, user("user-token-rotate", http.MethodPost, "/api/user/tokens/{id}/secret/rotate", "Give the token a new secret",
		notFound), h.userRotate)
	api.Register(a, user("user-token-metrics", http.MethodGet, "/api/user/tokens/{id}/metrics", "Chart of the token's requests", notFound),
		h.userChart)
	api.Register(a, withText(user("user-logs", http.MethodGet, "/api/user/logs", "Requests of the caller's tokens", notFound),
		"The same parameters as the log of administrators."), h.userLogs)
	api.Register(a, asExport(user("user-log-export", http.MethodGet, "/api/user/logs/export", "Requests of the caller's tokens as a file",
		notFound)), h.exportUserLogs)
	a.Document(httpd.Route{Method: http.MethodGet, Path: "/api/user/logs/events", Policy: httpd.APIKey, Handler: h.handleUserLogEvents},
		h.logs.documentEvents(a, "user-log-events", tagUser, "Requests of the caller's tokens as they end"))
}

func (h *tokenHandlers) tokenAPI(a *api.API) {
	const list, one = "/api/tokens", "/api/tokens/{id}"
	add := func(id, method, path, summary string, errors ...int) api.Operation {
		return adminOperation(id, method, path, tagTokens, summary, errors...)
	}
	api.Register(a, add("tokens", http.MethodGet, list, "List access tokens"), h.listTokens)
	api.Register(a, withText(withStatus(add("token-create", http.MethodPost, list, "Make an access token"), http.StatusCreated),
		"The answer is one of the places where the whole token is shown."), h.postToken)
	api.Register(a, add("token-groups", http.MethodGet, list+"/groups", "List groups"),
		func(ctx context.Context, _ *struct{}) (*api.Out[[]access.TokenGroup], error) {
			return api.AnswerWith(h.access.TokenGroups(ctx))
		})
	api.Register(a, withText(add("token-leaderboard", http.MethodGet, list+"/leaderboard", "Tokens with the most use"),
		"In the UTC day or month, by credits."), h.listTopTokens)
	api.Register(a, withStatus(add("tokens-create", http.MethodPost, list+"/batch", "Make many access tokens of a group"),
		http.StatusCreated), h.postTokens)
	api.Register(a, add("tokens-status", http.MethodPatch, list+"/batch/status", "Enable or disable many tokens"), h.patchTokens)
	api.Register(a, add("tokens-delete", http.MethodDelete, list+"/batch", "Delete many tokens"), h.deleteTokens)
	api.Register(a, add("token", http.MethodGet, one, "One access token", notFound), h.getToken)
	api.Register(a, withText(add("token-change", http.MethodPatch, one, "Change an access token", notFound),
		"Members that are left out stay as they are."), h.patchToken)
	api.Register(a, withText(add("token-delete", http.MethodDelete, one, "Delete an access token", notFound),
		"It is refused from then on; its requests stay in the log."), func(ctx context.Context, in *TokenPath) (*struct{}, error) {
		return nil, h.access.DeleteToken(ctx, in.ID)
	})
	api.Register(a, add("token-status", http.MethodPatch, one+"/status", "Enable or disable a token", notFound),
		func(ctx context.Context, in *tokenStatus) (*struct{}, error) {
			return nil, h.access.SetTokenEnabled(ctx, in.ID, in.Body.Enabled)
		})
	api.Register(a, add("token-note", http.MethodPatch, one+"/note", "Change the note of a token", notFound),
		func(ctx context.Context, in *tokenNote) (*struct{}, error) {
			return nil, h.access.ChangeToken(ctx, in.ID, access.TokenChange{Note: &in.Body.Note})
		})
	api.Register(a, requireConfirmation(add("token-secret", http.MethodGet, one+"/secret", "Show a token again", notFound)), h.showToken)
	api.Register(a, withText(add("token-rotate", http.MethodPost, one+"/secret/rotate", "Give a token a new secret", notFound),
		"The old one is refused at once."), h.rotateToken)
	api.Register(a, add("token-metrics", http.MethodGet, one+"/metrics", "Chart of a token's requests", notFound), h.tokenChart)
}

func (h *keyHandlers) keyAPI(a *api.API) {
	const list, one = "/api/keys", "/api/keys/{id}"
	add := func(id, method, path, summary string, errors ...int) api.Operation {
		return adminOperation(id, method, path, tagKeys, summary, errors...)
	}
	api.Register(a, withText(add("keys", http.MethodGet, list, "List upstream keys"), "The keys themselves are never shown."), h.listKeys)
	api.Register(a, withText(withStatus(add("key-add", http.MethodPost, list, "Add or restore an upstream key"), http.StatusCreated),
		"A key that was deleted or found invalid before is active again, under its id."), h.postKey)
	api.Register(a, withText(add("keys-add", http.MethodPost, list+"/batch", "Add many upstream keys"),
		"At most 1000; the answer tells for each line what became of it."), h.postKeys)
	validate := h.keysOperation(a, "keys-validate", "Ask the upstream about keys without adding them",
		"At most 1000, eight at once. A client that accepts text/event-stream gets each result as event \"result\" as soon as it is there, and the whole answer as event \"done\".")
	a.Document(httpd.Route{Method: http.MethodPost, Path: list + "/validate", Policy: httpd.Admin, Audit: httpd.Unaudited,
		Handler: h.handleValidate}, validate)
	api.Register(a, add("keys-bulk", http.MethodPost, list+"/bulk-actions", "Do something with many keys"), h.bulkKeys)
	api.Register(a, add("key", http.MethodGet, one, "One upstream key", notFound), h.getKey)
	api.Register(a, add("key-delete", http.MethodDelete, one, "Delete an upstream key", notFound), h.deleteKey)
	api.Register(a, add("key-status", http.MethodPatch, one+"/status", "Take a key into use or out of it", notFound), h.patchKeyStatus)
	api.Register(a, withText(add("key-quarantine", http.MethodPost, one+"/quarantine", "Keep a key out", notFound),
		"It counts as invalid until it is released."), h.quarantineKey)
	api.Register(a, withText(add("key-release", http.MethodDelete, one+"/quarantine", "Release a key", notFound),
		"Makes a key active that was found invalid, or that rests."), h.releaseKey)
	api.Register(a, add("key-sync", http.MethodPost, one+"/sync-usage", "Ask the upstream for the key's quota", notFound, http.StatusConflict,
		http.StatusBadGateway, http.StatusServiceUnavailable), h.syncKey)
	api.Register(a, add("key-history", http.MethodGet, one+"/history", "Changes of a key's state"), h.keyChanges)
	api.Register(a, add("key-metrics", http.MethodGet, one+"/metrics", "Chart of a key's requests", notFound), h.keyChart)
}

func (h *logHandlers) logAPI(a *api.API) {
	add := func(id, path, tag, summary string, errors ...int) api.Operation {
		return adminOperation(id, http.MethodGet, path, tag, summary, errors...)
	}
	api.Register(a, add("logs", "/api/logs/list", tagLogs, "List requests"), h.listLogs)
	api.Register(a, asExport(add("log-export", "/api/logs/export", tagLogs, "Requests as a file")), h.exportLogs)
	api.Register(a, add("log-catalog", "/api/logs/catalog", tagLogs, "What the log can be filtered by"), h.logFacets)
	api.Register(a, add("log-details", "/api/logs/{id}/details", tagLogs, "One request, with its bodies where they are kept", notFound),
		h.logDetails)
	a.Document(httpd.Route{Method: http.MethodGet, Path: "/api/logs/events", Policy: httpd.Admin, Handler: h.handleLogEvents},
		h.documentEvents(a, "log-events", tagLogs, "Requests as they end"))
	api.Register(a, add("metrics", "/api/metrics", tagCharts, "Chart of all requests"), h.allChart)
	api.Register(a, add("summary-windows", "/api/summary/windows", tagCharts, "Sums of today, yesterday and the month, in UTC"), h.showWindows)
}

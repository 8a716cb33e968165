package api

import (
	"time"

	"github.com/gin-gonic/gin"

	"github.com/patchbay-dev/patchbay/core/auth/limit"
	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/httpd"
	"github.com/patchbay-dev/patchbay/core/services/search/access"
)

// A client may show this many tokens that are not valid at once, and one more every so often. A valid token always passes.
const (
	Guesses    = 60
	guessEvery = time.Second
)

func newGuesses(cfg Config) (*limit.Limiter, error) {
	return limit.New(limit.Config{Burst: Guesses, Every: guessEvery, Now: cfg.Now, Store: cfg.Store, Name: "search_token"})
}

// authenticateToken finds the token of a text. Its error is a fault.Unauthorized, or, for a client that has shown too many
// that are not valid, a fault.RateLimited.
func (h *proxyHandlers) authenticateToken(c *gin.Context, text string) (*access.Token, error) {
	t, err := h.access.Table().AuthenticateToken(c.Request.Context(), text)
	if err == nil {
		httpd.SetAuthenticated(c)
	}
	if err == nil || fault.CodeOf(err) != fault.Unauthorized {
		return t, err
	}
	if wait, ok := h.guessed.Take(limit.Client(httpd.ClientAddr(c))); !ok {
		return nil, fault.New(fault.RateLimited, "Rate limited: too many invalid access tokens from this address.").WithRetryAfter(wait)
	}
	return nil, err
}

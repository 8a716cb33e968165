package console

import (
	"net/http"
	"net/url"

	"github.com/gin-gonic/gin"

	"github.com/patchbay-dev/patchbay/core/auth"
	"github.com/patchbay-dev/patchbay/core/console/ui"
	"github.com/patchbay-dev/patchbay/core/fault"
)

// setupView is what the page behind a set-up link shows.
type setupView struct {
	Token, Email, Name string
	// First asks for email and name, because the link makes the first administrator.
	First bool
	// Failure is why the last attempt failed; with Dead set the link is of no use any more.
	Failure string
	// LookAround tells that there is no user yet, so that one may look around first.
	LookAround bool
	Dead       bool
}

// showSetup shows what a set-up link is for. The link is used up by the form, not by looking at it.
func (h *signInPages) showSetup(gc *gin.Context) {
	v := h.kit.View(gc, "setup.title")
	page, status := setupView{Token: gc.Query("token")}, http.StatusOK
	first, err := h.cfg.Users.Links.IsFirst(gc.Request.Context(), page.Token)
	if err != nil {
		e := fault.As(err)
		page.Dead, page.Failure, status = true, v.Fault(e), fault.StatusOf(e)
	}
	page.First = first
	n, err := h.cfg.Users.Count(gc.Request.Context())
	page.LookAround = err == nil && n == 0
	h.kit.Render(gc, v, status, setupPage(v, page))
}

// useSetup begins the session of a set-up link.
func (h *signInPages) useSetup(gc *gin.Context) {
	if err := h.cfg.Access.SameSite(gc.Request); err != nil {
		h.kit.Fail(gc, err)
		return
	}
	page := setupView{Token: gc.PostForm("token"), Email: gc.PostForm("email"), Name: gc.PostForm("name")}
	cookie, _, err := h.cfg.Users.Links.Use(gc.Request.Context(), page.Token, page.Email, page.Name, auth.OriginFrom(gc))
	if err != nil {
		e := fault.As(err)
		v := h.kit.View(gc, "setup.title")
		page.First, page.Dead = e.Code == fault.InvalidArgument, e.Code != fault.InvalidArgument
		page.Failure = v.Fault(e)
		h.kit.Render(gc, v, fault.StatusOf(e), setupPage(v, page))
		return
	}
	http.SetCookie(gc.Writer, auth.Cookie(cookie, h.cfg.Access.Secure(gc.Request)))
	h.kit.Done(gc, accountPath, ui.Toast{Kind: "ok", TextID: "setup.done"})
}

// lookAround begins a session of the built-in developer with the set-up link.
func (h *signInPages) lookAround(gc *gin.Context) {
	if err := h.cfg.Access.SameSite(gc.Request); err != nil {
		h.kit.Fail(gc, err)
		return
	}
	cookie, _, err := h.cfg.Users.LookAround(gc.Request.Context(), gc.PostForm("token"), auth.OriginFrom(gc))
	if err != nil {
		e := fault.As(err)
		v := h.kit.View(gc, "setup.title")
		h.kit.Render(gc, v, fault.StatusOf(e), setupPage(v, setupView{Dead: true, Failure: v.Fault(e)}))
		return
	}
	http.SetCookie(gc.Writer, auth.Cookie(cookie, h.cfg.Access.Secure(gc.Request)))
	h.kit.Redirect(gc, ui.Home)
}

// firstAdministrator leads somebody who is here without an account to the page that makes the first administrator.
func (h *signInPages) firstAdministrator(gc *gin.Context) {
	token, err := h.cfg.Users.Links.CreateFirst(gc.Request.Context())
	if err == nil && token == "" {
		err = fault.New(fault.Conflict, "There is an administrator already: sign in.")
	}
	if err != nil {
		h.kit.Fail(gc, err)
		return
	}
	h.kit.Redirect(gc, "/system/setup?token="+url.QueryEscape(token))
}

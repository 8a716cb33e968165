package console

import (
	"net/http"
	"net/url"

	"github.com/a-h/templ"
	"github.com/gin-gonic/gin"

	"github.com/patchbay-dev/patchbay/core/auth"
	"github.com/patchbay-dev/patchbay/core/console/ui"
	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/httpd"
)

// signInView is what the sign-in page shows.
type signInView struct {
	// Next is where to go after the sign-in.
	Next string
	// Passkeys says whether they work at this address.
	Passkeys auth.Capability
	// First tells that there is no user yet.
	First bool
	// NoAdmin tells that there is no administrator yet; members may sign in.
	NoAdmin bool
	// Ways are those of services.
	Ways []ui.SignInWay
	// Failure is why the last attempt failed.
	Failure string
}

// logCommands show the log of the core, which has the set-up link of a first start.
const logCommands = "journalctl -u patchbay | grep system/setup\ndocker compose logs patchbay | grep system/setup"

// signInPages are those to sign in and out, and of set-up links.
type signInPages struct{ *base }

func (h *signInPages) listRoutes() []httpd.Route {
	return []httpd.Route{
		{Method: http.MethodGet, Path: "/system/sign-in", Policy: httpd.Public, Handler: h.signIn},
		{Method: http.MethodPost, Path: "/system/sign-in", Policy: httpd.Public, BodyLimit: formLimit, Handler: h.signInByKey},
		{Method: http.MethodPost, Path: "/system/sign-out", Policy: httpd.Public, BodyLimit: formLimit, Handler: h.signOut},
		{Method: http.MethodGet, Path: "/system/setup", Policy: httpd.Public, Handler: h.showSetup},
		{Method: http.MethodPost, Path: "/system/setup", Policy: httpd.Public, BodyLimit: formLimit, Handler: h.useSetup},
		{Method: http.MethodPost, Path: "/system/setup/look-around", Policy: httpd.Public, BodyLimit: formLimit, Handler: h.lookAround},
		{Method: http.MethodPost, Path: accountPath + "/first-administrator", Policy: httpd.Admin, BodyLimit: formLimit,
			Audit: httpd.Unaudited, Handler: h.firstAdministrator},
		{Method: http.MethodPost, Path: "/system/preferences", Policy: httpd.Public, BodyLimit: formLimit, Handler: h.savePreferences},
	}
}

// signInPage is the page that whoever is not recognised gets in place of another one.
func (h *signInPages) signInPage(gc *gin.Context, v *ui.View) templ.Component {
	next := ui.Home
	if gc.Request.Method == http.MethodGet {
		next = gc.Request.URL.RequestURI()
	} else if from, err := url.Parse(gc.Request.Referer()); err == nil && from.Host == gc.Request.Host {
		next = from.RequestURI() // the page of the form that was sent
	}
	v.Title = v.T("signin.title")
	return signInPage(v, h.signInView(gc, v, next))
}

func (h *signInPages) signInView(gc *gin.Context, v *ui.View, next string) signInView {
	n, err := h.cfg.Users.Count(gc.Request.Context())
	has, adminErr := h.cfg.Users.HasAdmin(gc.Request.Context())
	out := signInView{Next: ui.LocalPath(next), Passkeys: h.cfg.Access.Passkeys(gc.Request), First: err == nil && n == 0,
		NoAdmin: adminErr == nil && !has}
	for _, s := range h.cfg.Sections {
		if s.SignIn == nil || out.First {
			continue
		}
		if way := s.SignIn(v); way != nil {
			way.Href += "?" + url.Values{"next": {out.Next}}.Encode()
			out.Ways = append(out.Ways, *way)
		}
	}
	return out
}

// signIn shows the page by its own address.
func (h *signInPages) signIn(gc *gin.Context) {
	v := h.kit.View(gc, "signin.title")
	h.kit.Render(gc, v, http.StatusOK, signInPage(v, h.signInView(gc, v, gc.Query("next"))))
}

// signInByKey begins a session for an API key.
func (h *signInPages) signInByKey(gc *gin.Context) {
	if err := h.cfg.Access.SameSite(gc.Request); err != nil {
		h.kit.Fail(gc, err)
		return
	}
	next := ui.LocalPath(gc.PostForm("next"))
	cookie, _, err := h.cfg.Users.Sessions.Exchange(gc.Request.Context(), gc.PostForm("key"), auth.OriginFrom(gc))
	if err != nil {
		e := fault.As(err)
		v := h.kit.View(gc, "signin.title")
		page := h.signInView(gc, v, next)
		page.Failure = v.Fault(e)
		h.kit.Render(gc, v, fault.StatusOf(e), signInPage(v, page))
		return
	}
	http.SetCookie(gc.Writer, auth.Cookie(cookie, h.cfg.Access.Secure(gc.Request)))
	h.kit.Redirect(gc, next)
}

// signOut ends the session of the cookie.
func (h *signInPages) signOut(gc *gin.Context) {
	if err := h.cfg.Access.SameSite(gc.Request); err != nil {
		h.kit.Fail(gc, err)
		return
	}
	if err := h.cfg.Users.Sessions.SignOut(gc.Request.Context(), sessionCookie(gc)); err != nil {
		h.kit.Fail(gc, err)
		return
	}
	http.SetCookie(gc.Writer, auth.Cookie("", h.cfg.Access.Secure(gc.Request)))
	h.kit.Done(gc, "/system/sign-in", ui.Toast{Kind: "ok", TextID: "signout.done"})
}

// savePreferences keeps the theme and the language.
func (h *signInPages) savePreferences(gc *gin.Context) {
	if err := h.cfg.Access.SameSite(gc.Request); err != nil {
		h.kit.Fail(gc, err)
		return
	}
	h.kit.SavePreferences(gc)
}

// sessionCookie is the value of the session cookie; "" unless there is exactly one.
func sessionCookie(gc *gin.Context) string {
	if cookies := gc.Request.CookiesNamed(auth.SessionCookie); len(cookies) == 1 {
		return cookies[0].Value
	}
	return ""
}

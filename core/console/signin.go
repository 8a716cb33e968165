package console

import (
	"net/http"
	"net/url"

	"github.com/a-h/templ"
	"github.com/gin-gonic/gin"

	"github.com/patchbay-dev/patchbay/core/auth"
	"github.com/patchbay-dev/patchbay/core/console/ui"
	"github.com/patchbay-dev/patchbay/core/fault"
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

// signInPage is the page that whoever is not recognised gets in place of another one.
func (c *Console) signInPage(gc *gin.Context, v *ui.View) templ.Component {
	next := ui.Home
	if gc.Request.Method == http.MethodGet {
		next = gc.Request.URL.RequestURI()
	} else if from, err := url.Parse(gc.Request.Referer()); err == nil && from.Host == gc.Request.Host {
		next = from.RequestURI() // the page of the form that was sent
	}
	v.Title = v.T("signin.title")
	return signInPage(v, c.signInView(gc, v, next))
}

func (c *Console) signInView(gc *gin.Context, v *ui.View, next string) signInView {
	n, err := c.cfg.Users.Count(gc.Request.Context())
	has, adminErr := c.cfg.Users.HasAdmin(gc.Request.Context())
	out := signInView{Next: ui.LocalPath(next), Passkeys: c.cfg.Access.Passkeys(gc.Request), First: err == nil && n == 0,
		NoAdmin: adminErr == nil && !has}
	for _, s := range c.cfg.Sections {
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
func (c *Console) signIn(gc *gin.Context) {
	v := c.kit.View(gc, "signin.title")
	c.kit.Render(gc, v, http.StatusOK, signInPage(v, c.signInView(gc, v, gc.Query("next"))))
}

// signInByKey begins a session for an API key.
func (c *Console) signInByKey(gc *gin.Context) {
	if err := c.cfg.Access.SameSite(gc.Request); err != nil {
		c.kit.Fail(gc, err)
		return
	}
	next := ui.LocalPath(gc.PostForm("next"))
	cookie, _, err := c.cfg.Users.Sessions.Exchange(gc.Request.Context(), gc.PostForm("key"), auth.OriginFrom(gc))
	if err != nil {
		e := fault.As(err)
		v := c.kit.View(gc, "signin.title")
		page := c.signInView(gc, v, next)
		page.Failure = v.Fault(e)
		c.kit.Render(gc, v, fault.StatusOf(e), signInPage(v, page))
		return
	}
	http.SetCookie(gc.Writer, auth.Cookie(cookie, c.cfg.Access.Secure(gc.Request)))
	c.kit.Redirect(gc, next)
}

// signOut ends the session of the cookie.
func (c *Console) signOut(gc *gin.Context) {
	if err := c.cfg.Access.SameSite(gc.Request); err != nil {
		c.kit.Fail(gc, err)
		return
	}
	if err := c.cfg.Users.Sessions.SignOut(gc.Request.Context(), sessionOf(gc)); err != nil {
		c.kit.Fail(gc, err)
		return
	}
	http.SetCookie(gc.Writer, auth.Cookie("", c.cfg.Access.Secure(gc.Request)))
	c.kit.Done(gc, "/system/sign-in", ui.Toast{Kind: "ok", TextID: "signout.done"})
}

// savePreferences keeps the theme and the language.
func (c *Console) savePreferences(gc *gin.Context) {
	if err := c.cfg.Access.SameSite(gc.Request); err != nil {
		c.kit.Fail(gc, err)
		return
	}
	c.kit.SavePreferences(gc)
}

// sessionOf is the value of the session cookie; "" unless there is exactly one.
func sessionOf(gc *gin.Context) string {
	if cookies := gc.Request.CookiesNamed(auth.SessionCookie); len(cookies) == 1 {
		return cookies[0].Value
	}
	return ""
}

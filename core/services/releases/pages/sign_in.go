package pages

import (
	"net/http"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/patchbay-dev/patchbay/core/auth"
	"github.com/patchbay-dev/patchbay/core/console/ui"
	"github.com/patchbay-dev/patchbay/core/services/releases/signin"
)

const (
	// signInCookie holds what the browser that began a sign-in shows when it comes back.
	signInCookie = "patchbay_release_sign_in"
	// signInFor is how long it holds it.
	signInFor = 10 * time.Minute
)

// signInWay returns the button of the sign-in page; nil if nobody signs in at a code host.
func (p pages) signInWay(v *ui.View) *ui.SignInWay {
	name := p.service.SignInName()
	if name == "" {
		return nil
	}
	return &ui.SignInWay{Label: v.T("releases.sign_in", "Name", name), Href: p.base + signin.SignInPath}
}

// beginSignIn sends a browser to the code host: to sign in, or to link an account to the user who is signed in.
func (p *signInPages) beginSignIn(c *gin.Context) {
	next := ui.LocalPath(c.Query("next"))
	start, err := p.service.BeginSignIn(c.Request.Context(), p.service.Recognise(c.Request), auth.OriginFrom(c), next)
	if err != nil {
		p.kit.Fail(c, err)
		return
	}
	p.setSignInCookie(c, start.Browser, int(signInFor/time.Second))
	c.Header("Cache-Control", "no-store")
	c.Redirect(http.StatusSeeOther, start.Page)
}

// finishSignIn takes a browser back from the code host.
func (p *signInPages) finishSignIn(c *gin.Context) {
	browser, _ := c.Cookie(signInCookie)
	p.setSignInCookie(c, "", -1)
	result, err := p.service.FinishSignIn(c.Request.Context(), p.service.Recognise(c.Request), auth.OriginFrom(c), signin.SignInAnswer{
		State: c.Query("state"), Code: c.Query("code"), Error: c.Query("error"), Description: c.Query("error_description"), Browser: browser,
	})
	if err != nil {
		p.kit.Fail(c, err)
		return
	}
	if result.Cookie != "" {
		http.SetCookie(c.Writer, auth.Cookie(result.Cookie, p.service.IsSecure(c.Request)))
		p.kit.Redirect(c, result.Next)
		return
	}
	p.finishAction(c, result.Next, "releases.sign_in.linked",
		p.service.StartSync(auth.With(c.Request.Context(), p.service.Recognise(c.Request))))
}

// setSignInCookie keeps a value in the browser for so many seconds, and only for the pages of a sign-in.
func (p *signInPages) setSignInCookie(c *gin.Context, value string, age int) {
	http.SetCookie(c.Writer, &http.Cookie{
		Name: signInCookie, Value: value, Path: p.base + signin.SignInPath, MaxAge: age, HttpOnly: true, SameSite: http.SameSiteLaxMode,
		Secure: p.service.IsSecure(c.Request),
	})
}

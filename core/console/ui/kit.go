package ui

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/a-h/templ"
	"github.com/gin-gonic/gin"

	"github.com/patchbay-dev/patchbay/core/auth"
	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/httpd"
)

// The cookies of the console.
const (
	LangCookie  = "patchbay_lang"
	ThemeCookie = "patchbay_theme"
	toastCookie = "patchbay_toast"
	keepFor     = 365 * 24 * 3600
	maxToast    = 1 << 10
)

// Policy is the content security policy of every page.
const Policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
	"font-src 'self'; worker-src 'self'; manifest-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'"

// Config is what a Kit needs.
type Config struct {
	Texts  *Texts
	Assets *Assets
	// Nav is the whole navigation; pages that a caller may not see are left out for each.
	Nav []NavGroup
	// Counts returns what waits on the pages of the navigation, by their addresses, as far as the view's principal may know. Nil for
	// nothing.
	Counts func(context.Context, *View) map[string]int
	// Warnings returns the ids of texts that every page shows at present: settings that are not for production, and a
	// configuration that was rejected. Nil for none.
	Warnings func() []string
	// Troubles returns the providers of a service that do not work at present; nil for none.
	Troubles func(service string) []Trouble
	// Alone is the path below which the pages of a process of its own stand, with their files and the form of the preferences: the
	// core may be down while they are shown. "" for the core's console.
	Alone string
	// Secure reports whether a browser has come by https, so that cookies are for https alone.
	Secure func(*http.Request) bool
	// Recognise finds out who makes a request that no guard has seen; nil for nobody.
	Recognise func(*http.Request) *auth.Principal
	// Help returns the address of the document about a page, by the service and the path of the page; nil for none.
	Help func(service, path string) string
	// SignIn makes the page that whoever is not recognised gets.
	SignIn func(*gin.Context, *View) templ.Component
	// Secrets holds what is shown once; nil means an own one.
	Secrets *Secrets
	// Current reports whether the pages are those in use; streams of others end, so that browsers ask those in use. Nil means they
	// always are.
	Current func() bool
	// Now is the clock; nil means time.Now.
	Now func() time.Time
}

// Kit makes views and answers with pages.
type Kit struct{ cfg Config }

// NewKit makes a kit.
func NewKit(cfg Config) *Kit {
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.Secrets == nil {
		cfg.Secrets = &Secrets{}
	}
	return &Kit{cfg: cfg}
}

// View is the view of a request; title is the id of the page's heading.
func (k *Kit) View(c *gin.Context, title string) *View {
	v := &View{
		Lang:  k.cfg.Texts.chooseLanguage(readCookie(c, LangCookie), c.GetHeader("Accept-Language")),
		Theme: validTheme(readCookie(c, ThemeCookie)),
		Path:  c.Request.URL.Path, Target: c.Request.URL.RequestURI(), Principal: auth.From(c.Request.Context()),
		RequestID: httpd.RequestID(c), Origin: k.Origin(c), Now: k.cfg.Now(), folds: readCookie(c, NavCookie), kit: k,
	}
	if k.cfg.Warnings != nil {
		v.Warnings = k.cfg.Warnings()
	}
	if service := c.GetString(serviceKey); service != "" && k.cfg.Troubles != nil {
		v.Troubles = k.cfg.Troubles(service)
	}
	if k.cfg.Help != nil && v.Principal != nil {
		v.Help = k.cfg.Help(c.GetString(serviceKey), v.Path)
	}
	if title != "" {
		v.Title = v.T(title)
	}
	v.Nav = k.visibleGroups(v.Principal)
	return v
}

// visibleGroups is the part of the navigation that a principal may use.
func (k *Kit) visibleGroups(p *auth.Principal) (out []NavGroup) {
	if p == nil {
		return nil
	}
	for _, g := range k.cfg.Nav {
		if g.Service != "" && !p.In(g.Service) {
			continue
		}
		var items []NavItem
		for _, item := range g.Items {
			if !item.Admin || p.Administers() || g.Service != "" && p.Admin() {
				items = append(items, item)
			}
		}
		if len(items) > 0 {
			out = append(out, NavGroup{Service: g.Service, TextID: g.TextID, Items: items})
		}
	}
	return out
}

func readCookie(c *gin.Context, name string) string {
	ck, err := c.Request.Cookie(name)
	if err != nil {
		return ""
	}
	return ck.Value
}

func validTheme(s string) string {
	if s == ThemeLight || s == ThemeDark {
		return s
	}
	return ThemeSystem
}

// Render answers with a page. What an action had to say before is shown once.
func (k *Kit) Render(c *gin.Context, v *View, status int, page templ.Component) {
	if v.Toast == nil {
		v.Toast = k.takeToast(c)
	}
	b := templ.GetBuffer()
	defer templ.ReleaseBuffer(b)
	if err := page.Render(c.Request.Context(), b); err != nil {
		httpd.WriteError(c, fault.Wrap(err, fault.Internal, "The page could not be made."))
		return
	}
	Headers(c.Writer.Header())
	if v.Frames {
		c.Header("Content-Security-Policy", Policy+"; frame-src 'self'")
	}
	httpd.WriteText(c, status, "text/html; charset=utf-8", b.Bytes())
}

// Headers are those of every page.
func Headers(h http.Header) {
	h.Set("Content-Security-Policy", Policy)
	h.Set("Cache-Control", "no-store")
	h.Set("Referrer-Policy", "same-origin")
	h.Set("X-Frame-Options", "DENY")
	h.Add("Vary", "Cookie, Accept-Language, Accept")
}

// Done answers an action: the browser goes on to a page of ours, which shows the toast.
func (k *Kit) Done(c *gin.Context, to string, toast Toast) {
	if raw, err := json.Marshal(toast); err == nil && len(raw) <= maxToast {
		k.setCookie(c, toastCookie, base64.RawURLEncoding.EncodeToString(raw), 60)
	}
	k.Redirect(c, to)
}

// Redirect sends the browser to a page of ours; anything else becomes the home page.
func (k *Kit) Redirect(c *gin.Context, to string) {
	c.Header("Cache-Control", "no-store")
	c.Redirect(http.StatusSeeOther, LocalPath(to))
	c.Abort()
}

func (k *Kit) takeToast(c *gin.Context) *Toast {
	value := readCookie(c, toastCookie)
	if value == "" {
		return nil
	}
	k.setCookie(c, toastCookie, "", -1)
	raw, err := base64.RawURLEncoding.DecodeString(value)
	var t Toast
	if err != nil || len(raw) > maxToast || json.Unmarshal(raw, &t) != nil || !k.cfg.Texts.Known(t.TextID) {
		return nil
	}
	return &t
}

// Origin is the scheme and host under which the browser sees this server, also behind a proxy that is trusted.
func (k *Kit) Origin(c *gin.Context) string {
	if k.cfg.Secure != nil && k.cfg.Secure(c.Request) {
		return "https://" + c.Request.Host
	}
	return "http://" + c.Request.Host
}

// SavePreferences stores the theme and the language that the form of the preferences names, and goes back to its page.
func (k *Kit) SavePreferences(c *gin.Context) {
	if t := c.PostForm("theme"); t == ThemeSystem || t == ThemeLight || t == ThemeDark {
		k.Remember(c, ThemeCookie, t)
	}
	if l := c.PostForm("lang"); l == English || l == Chinese {
		k.Remember(c, LangCookie, l)
	}
	k.Redirect(c, c.PostForm("back"))
}

// Remember keeps a choice of the person in a cookie for a year.
func (k *Kit) Remember(c *gin.Context, name, value string) { k.setCookie(c, name, value, keepFor) }

func (k *Kit) setCookie(c *gin.Context, name, value string, age int) {
	http.SetCookie(c.Writer, &http.Cookie{
		Name: name, Value: value, Path: "/", MaxAge: age, HttpOnly: true, SameSite: http.SameSiteLaxMode, Secure: k.cfg.Secure(c.Request),
	})
}

// Fail answers with an error: a page that says what happened and what to do, or the sign-in page for whoever is not
// recognised. Programs get the common body.
func (k *Kit) Fail(c *gin.Context, err error) {
	e := fault.As(err)
	status := fault.StatusOf(e)
	if !WantsPage(c.Request) || c.Writer.Written() {
		httpd.WriteError(c, err)
		return
	}
	if status >= http.StatusInternalServerError {
		httpd.SetError(c, e)
	}
	if e.RetryAfter > 0 {
		c.Header("Retry-After", strconv.FormatInt(httpd.RetrySeconds(e.RetryAfter), 10))
	}
	v := k.View(c, "error.title")
	if v.Principal == nil && k.cfg.Recognise != nil {
		v.Principal = k.cfg.Recognise(c.Request)
		v.Nav = k.visibleGroups(v.Principal)
	}
	if status == http.StatusUnauthorized && k.cfg.SignIn != nil {
		k.Render(c, v, status, k.cfg.SignIn(c, v))
	} else {
		k.Render(c, v, status, errorPage(v, status, e))
	}
	c.Abort()
}

// Home is the address of the home page.
const Home = "/system"

// LocalPath is s if it is the address of a page of ours, and that of the home page otherwise.
func LocalPath(s string) string {
	if !strings.HasPrefix(s, "/") || strings.HasPrefix(s, "//") || strings.ContainsAny(s, "\\\r\n\t\x00") {
		return Home
	}
	u, err := url.Parse(s)
	if err != nil || u.IsAbs() || u.Host != "" {
		return Home
	}
	return s
}

// WantsPage reports whether a request is a browser's that shows what it gets.
func WantsPage(r *http.Request) bool {
	return strings.Contains(r.Header.Get("Accept"), "text/html")
}

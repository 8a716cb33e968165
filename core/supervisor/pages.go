package supervisor

import (
	"embed"
	"io/fs"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/a-h/templ"
	"github.com/gin-gonic/gin"

	"github.com/patchbay-dev/patchbay/core/auth"
	"github.com/patchbay-dev/patchbay/core/console/ui"
	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/httpd"
)

//go:embed locales/*.json static/*.css
var embedded embed.FS

// formLimit is the largest body of a form, in bytes.
const formLimit = 16 << 10

// lookAgain is how often a page that is open is compared with the state.
const lookAgain = 500 * time.Millisecond

// pages are the console of the supervisor, which shows itself while the core is down.
type pages struct {
	s      *Supervisor
	kit    *ui.Kit
	assets *ui.Assets
	about  About
	base   string
}

// newPages makes the pages below a path.
func newPages(s *Supervisor, base, version string, access auth.Access) (*pages, error) {
	locales, err := fs.Sub(embedded, "locales")
	if err != nil {
		return nil, err
	}
	texts, err := ui.NewTexts(ui.OwnTexts(), locales)
	if err != nil {
		return nil, err
	}
	static, err := fs.Sub(embedded, "static")
	if err != nil {
		return nil, err
	}
	assets, err := ui.NewAssets(static)
	if err != nil {
		return nil, err
	}
	p := &pages{s: s, assets: assets, about: newAbout(version), base: base}
	p.kit = ui.NewKit(ui.Config{
		Texts: texts, Assets: assets, Alone: base, Secure: access.Secure, Recognise: access.RecogniseForwarded,
		Warnings: func() []string {
			if access.OpenToAll() {
				return []string{"warning.anonymous"}
			}
			return nil
		},
	})
	return p, nil
}

// listRoutes returns the pages and their files.
func (p *pages) listRoutes() []httpd.Route {
	form := func(path string, handler gin.HandlerFunc) httpd.Route {
		return httpd.Route{Method: http.MethodPost, Path: path, Policy: httpd.Forward, BodyLimit: formLimit, Handler: handler}
	}
	return []httpd.Route{
		{Method: http.MethodGet, Path: "/", Policy: httpd.Forward, Handler: p.showState},
		{Method: http.MethodGet, Path: "/live", Policy: httpd.Forward, Handler: p.streamState},
		form("/upgrade", p.beginUpgrade), form("/rollback", p.beginRollback), form("/preferences", p.kit.SavePreferences),
		{Method: http.MethodGet, Path: "/favicon.png", Policy: httpd.Public, Handler: p.serveIcon},
		p.assets.Route(),
	}
}

// view is what the page shows.
type view struct {
	base, repository string
	// kind is that of the deployment.
	kind        string
	about       About
	current     *Operation
	operations  []Operation
	form        ui.Form
	canRollBack bool
}

func (p *pages) readView(f ui.Form) view {
	all := p.s.Operations()
	_, err := p.s.lastUpgrade("")
	return view{base: p.base, repository: p.s.deployment.sourceName(), kind: p.s.deployment.kindName(), about: p.about,
		current: lastChanged(all), operations: all, form: f, canRollBack: err == nil}
}

// translateText returns a text of the page, in the words of the deployment where they differ.
func (v view) translateText(u *ui.View, key string, args ...any) string {
	if v.kind == unitKind && slices.Contains(unitTexts(), key) {
		key = unitKind + "." + key
	}
	return u.T("supervisor."+key, args...)
}

// unitTexts are the texts that speak of an image, and have other words where there is none.
func unitTexts() []string {
	return []string{"upgrade.hint", "tag.hint", "digest.hint", "keep", "roll_back.question", "step.pull", "step.check_image"}
}

// isRunning reports whether an operation runs.
func (v view) isRunning() bool { return v.current != nil && v.current.Status == Running }

func (p *pages) showState(c *gin.Context) { p.showForm(c, ui.Form{}) }

func (p *pages) showForm(c *gin.Context, f ui.Form) {
	v := p.kit.View(c, "supervisor.title")
	v.Styles = append(v.Styles, "supervisor.css")
	p.kit.Render(c, v, f.Status(), statePage(v, p.readView(f)))
}

func (p *pages) streamState(c *gin.Context) {
	p.kit.Stream(c, lookAgain, nil, func(v *ui.View) (templ.Component, bool, error) {
		return stateParts(v, p.readView(ui.Form{})), false, nil
	})
}

// beginUpgrade begins what the form asks for.
func (p *pages) beginUpgrade(c *gin.Context) {
	r := Request{
		Target: Target{Tag: strings.TrimSpace(c.PostForm("tag")), Digest: strings.TrimSpace(c.PostForm("digest"))},
		Mode:   Mode(c.PostForm("mode")), RollbackOnFailure: c.PostForm("keep") == "",
	}
	p.answerForm(c, func() error { _, err := p.s.Begin(r); return err })
}

// beginRollback begins to take the last upgrade back.
func (p *pages) beginRollback(c *gin.Context) {
	p.answerForm(c, func() error { return p.s.BeginRollback(c.Request.Context(), c.PostForm("opId")) })
}

// answerForm goes back to the page after something has begun, or shows why it has not.
func (p *pages) answerForm(c *gin.Context, begin func() error) {
	if err := begin(); err != nil {
		if f, ok := p.kit.ReadForm(c, err); ok {
			p.showForm(c, f)
		}
		return
	}
	p.kit.Redirect(c, p.base+"/")
}

func (p *pages) serveIcon(c *gin.Context) {
	icon, ok := p.assets.File("icon-192.png")
	if !ok {
		httpd.WriteError(c, fault.New(fault.NotFound, "There is no such file."))
		return
	}
	c.Header("Cache-Control", "public, max-age=3600")
	icon.Write(c)
}

package console

import (
	"context"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/patchbay-dev/patchbay/core/auth"
	"github.com/patchbay-dev/patchbay/core/console/ui"
	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/httpd"
)

const accountPath = "/system/account"

// accountPages are those of the own account.
type accountPages struct{ *base }

func (h *accountPages) listRoutes() []httpd.Route {
	post := func(path string, p httpd.Policy, handler gin.HandlerFunc) httpd.Route {
		return httpd.Route{Method: http.MethodPost, Path: accountPath + path, Policy: p, BodyLimit: formLimit, Audit: httpd.Unaudited,
			Handler: handler}
	}
	return []httpd.Route{
		{Method: http.MethodGet, Path: accountPath, Policy: httpd.APIKey, Handler: h.showAccountPage},
		post("/passkeys/:id/rename", httpd.Session, h.renamePasskey),
		withConfirmation(post("/passkeys/:id/revoke", httpd.Session, h.revokePasskey)),
		post("/keys", httpd.Session, h.createKey),
		withConfirmation(post("/keys/:id/reveal", httpd.Session, h.revealKey)),
		post("/keys/:id/revoke", httpd.APIKey, h.revokeKey),
		post("/sessions/:id/end", httpd.APIKey, h.endSession),
		post("/sessions/end-others", httpd.APIKey, h.endOtherSessions),
	}
}

// withConfirmation returns a route that asks for a passkey check of the last minutes.
func withConfirmation(r httpd.Route) httpd.Route { r.Confirm = true; return r }

// The dialogs of the account page.
const (
	newAPIKey  = "new-key"
	newPasskey = "new-passkey"
)

// accountView is what the account page shows.
type accountView struct {
	User     auth.User
	Passkeys []auth.Passkey
	Keys     []auth.Key
	Sessions []auth.SessionInfo
	// Scopes are the services that a new key can be confined to.
	Scopes []string
	// Capability says whether passkeys can be made here; Strong whether this session may make them.
	Capability auth.Capability
	Strong     bool
	// Secret is an API key that is shown this once.
	Secret ui.Secret
	// Form makes an API key; Open is the dialog that is shown at once.
	Form ui.Form
	Open string
	// Failure is why another form was refused.
	Failure string
}

// hasPasskey reports whether the user has a passkey, which is then asked for before an API key is made.
func (a accountView) hasPasskey() bool {
	return slices.ContainsFunc(a.Passkeys, func(p auth.Passkey) bool { return p.RevokedAt == 0 })
}

// showAccountPage shows the account of the caller.
func (h *accountPages) showAccountPage(gc *gin.Context) {
	h.showAccount(gc, http.StatusOK, accountView{Secret: h.kit.TakeSecret(gc, accountPath), Open: ui.Opened(gc)})
}

func (h *accountPages) showAccount(gc *gin.Context, status int, a accountView) {
	v := h.kit.View(gc, "account.title")
	a.Scopes = h.cfg.Users.Keys.Scopes()
	if err := h.fillAccount(gc.Request.Context(), gc, &a); err != nil {
		h.kit.Fail(gc, err)
		return
	}
	h.kit.Render(gc, v, status, accountPage(v, a))
}

func (h *accountPages) fillAccount(ctx context.Context, gc *gin.Context, a *accountView) (err error) {
	p := auth.From(ctx)
	a.User, a.Strong, a.Capability = p.User, p.Strong(), h.cfg.Access.Passkeys(gc.Request)
	if !p.HasAccount() {
		return nil
	}
	if a.Passkeys, err = h.cfg.Users.Passkeys.List(ctx, p.User.ID); err != nil {
		return err
	}
	if a.Keys, err = h.cfg.Users.Keys.List(ctx, p.User.ID); err != nil {
		return err
	}
	a.Sessions, err = h.cfg.Users.Sessions.List(ctx, p.User.ID)
	return err
}

// afterAccount answers an action on the account page.
func (h *accountPages) afterAccount(gc *gin.Context, err error, part, textID string, args ...string) {
	if err != nil {
		h.kit.Fail(gc, err)
		return
	}
	h.kit.Done(gc, accountPath+part, ui.Toast{Kind: "ok", TextID: textID, Args: args})
}

func (h *accountPages) renamePasskey(gc *gin.Context) {
	ctx := gc.Request.Context()
	p, err := h.cfg.Users.Passkeys.Rename(ctx, auth.From(ctx), gc.Param("id"), gc.PostForm("name"))
	h.afterAccount(gc, err, "#passkeys", "account.passkey.renamed", "Name", p.Name)
}

func (h *accountPages) revokePasskey(gc *gin.Context) {
	ctx := gc.Request.Context()
	p, id := auth.From(ctx), gc.Param("id")
	list, err := h.cfg.Users.Passkeys.List(ctx, p.User.ID)
	if i := slices.IndexFunc(list, func(k auth.Passkey) bool { return k.ID == id }); err == nil && i >= 0 {
		err = ui.CheckTypedName(gc, list[i].Name)
	}
	if err == nil {
		err = h.cfg.Users.Passkeys.Revoke(ctx, p, id)
	}
	h.afterAccount(gc, err, "#passkeys", "account.passkey.revoked")
}

// maxKeyDays is for how many days a key can be made that ends.
const maxKeyDays = 3650

// readKeyDays reads after how many days a key ends; 0 is never.
func readKeyDays(text string) (int, error) {
	if text == "" {
		return 0, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 || n > maxKeyDays {
		return 0, fault.New(fault.InvalidRequest, "The lifetime of a key is 0 to %d days; 0 is for ever.", maxKeyDays).With("field", "days")
	}
	return n, nil
}

func (h *accountPages) createKey(gc *gin.Context) {
	ctx := gc.Request.Context()
	k := auth.NewKey{Name: gc.PostForm("name"), Scopes: gc.PostFormArray("scope")}
	days, err := readKeyDays(gc.PostForm("days"))
	if days > 0 {
		k.ExpiresAt = time.Now().AddDate(0, 0, days)
	}
	var key auth.Key
	var text string
	if err == nil {
		key, text, err = h.cfg.Users.Keys.Create(ctx, auth.From(ctx), k)
	}
	if err != nil {
		if form, ok := h.kit.ReadForm(gc, err); ok {
			h.showAccount(gc, form.Status(), accountView{Form: form, Open: newAPIKey})
		}
		return
	}
	h.showSecret(gc, key.Name, text, err)
}

func (h *accountPages) revealKey(gc *gin.Context) {
	ctx := gc.Request.Context()
	text, err := h.cfg.Users.Keys.Reveal(ctx, auth.From(ctx), gc.Param("id"))
	h.showSecret(gc, gc.Param("id"), text, err)
}

// showSecret answers with the account page and a key in full, shown once.
func (h *accountPages) showSecret(gc *gin.Context, name, text string, err error) {
	if err == nil {
		h.kit.ShowOnce(gc, accountPath, ui.Secret{Of: accountPath, Name: name, Text: text})
		return
	}
	e := fault.As(err)
	if fault.StatusOf(e) >= http.StatusInternalServerError {
		h.kit.Fail(gc, err)
		return
	}
	h.showAccount(gc, fault.StatusOf(e), accountView{Failure: h.kit.View(gc, "").Fault(e)})
}

func (h *accountPages) revokeKey(gc *gin.Context) {
	ctx := gc.Request.Context()
	p, id := auth.From(ctx), gc.Param("id")
	list, err := h.cfg.Users.Keys.List(ctx, p.User.ID)
	if i := slices.IndexFunc(list, func(k auth.Key) bool { return k.ID == id }); err == nil && i >= 0 {
		err = ui.CheckTypedName(gc, list[i].Name)
	}
	if err == nil {
		err = h.cfg.Users.Keys.Revoke(ctx, p, id)
	}
	h.afterAccount(gc, err, "#keys", "account.key.revoked")
}

func (h *accountPages) endSession(gc *gin.Context) {
	ctx := gc.Request.Context()
	h.afterAccount(gc, h.cfg.Users.Sessions.EndOwn(ctx, auth.From(ctx), gc.Param("id")), "#sessions", "account.session.ended")
}

func (h *accountPages) endOtherSessions(gc *gin.Context) {
	ctx := gc.Request.Context()
	_, err := h.cfg.Users.Sessions.EndOthers(ctx, auth.From(ctx))
	h.afterAccount(gc, err, "#sessions", "account.sessions.ended")
}

// timeOfMillis is a time in Unix milliseconds; 0 is none.
func timeOfMillis(ms int64) time.Time {
	if ms == 0 {
		return time.Time{}
	}
	return time.UnixMilli(ms)
}

// keyState is the word for what an API key is good for.
func keyState(v *ui.View, k auth.Key) string {
	switch {
	case k.RevokedAt != 0:
		return "revoked"
	case k.ExpiresAt != 0 && k.ExpiresAt <= v.Now.UnixMilli():
		return "expired"
	}
	return "active"
}

func passkeyState(p auth.Passkey) string {
	if p.RevokedAt != 0 {
		return "revoked"
	}
	return "active"
}

// scopeText names the services of a key.
func scopeText(v *ui.View, scopes []string) string {
	if len(scopes) == 0 {
		return v.T("account.key.all")
	}
	return strings.Join(scopes, ", ")
}

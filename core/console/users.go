package console

import (
	"net/http"

	"github.com/gin-gonic/gin"

	"github.com/patchbay-dev/patchbay/core/auth"
	"github.com/patchbay-dev/patchbay/core/console/ui"
	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/httpd"
)

const (
	usersPath = "/system/users"
	auditPath = "/system/audit"
	auditPage = 50
	// newUser is the id of the dialog that invites a user.
	newUser = "new-user"
)

// userPages are those of the users and of the audit.
type userPages struct{ *base }

func (h *userPages) listRoutes() []httpd.Route {
	post := func(path string, handler gin.HandlerFunc) httpd.Route {
		return httpd.Route{Method: http.MethodPost, Path: usersPath + path, Policy: httpd.Admin, BodyLimit: formLimit, Audit: httpd.Unaudited,
			Handler: handler}
	}
	return []httpd.Route{
		{Method: http.MethodGet, Path: usersPath, Policy: httpd.Admin, Handler: h.showUserList},
		withConfirmation(post("", h.createUser)),
		withConfirmation(post("/:id/change", h.changeUser)),
		withConfirmation(post("/:id/link", h.linkUser)),
		{Method: http.MethodGet, Path: auditPath, Policy: httpd.Admin, Handler: h.showAudit},
	}
}

// usersView is what the page of users shows.
type usersView struct {
	Users []auth.User
	// Link is a set-up link that is shown this once.
	Link ui.Secret
	// Form invites a user; Open shows it at once.
	Form ui.Form
	Open bool
	// Failure is why another form was refused.
	Failure string
}

func (h *userPages) showUserList(gc *gin.Context) {
	h.showUsers(gc, http.StatusOK, usersView{Open: ui.Opens(gc, newUser), Link: h.kit.TakeSecret(gc, usersPath)})
}

func (h *userPages) showUsers(gc *gin.Context, status int, u usersView) {
	var err error
	if u.Users, err = h.cfg.Users.List(gc.Request.Context()); err != nil {
		h.kit.Fail(gc, err)
		return
	}
	v := h.kit.View(gc, "users.title")
	h.kit.Render(gc, v, status, usersPage(v, u))
}

// refuseUser answers with the page of users and why an action was refused.
func (h *userPages) refuseUser(gc *gin.Context, err error) {
	e := fault.As(err)
	if fault.StatusOf(e) >= http.StatusInternalServerError {
		h.kit.Fail(gc, err)
		return
	}
	h.showUsers(gc, fault.StatusOf(e), usersView{Failure: h.kit.View(gc, "").Fault(e)})
}

func (h *userPages) createUser(gc *gin.Context) {
	ctx := gc.Request.Context()
	user, token, err := h.cfg.Users.Invite(ctx, gc.PostForm("email"), gc.PostForm("name"), auth.Role(gc.PostForm("role")))
	if err != nil {
		if form, ok := h.kit.ReadForm(gc, err); ok {
			h.showUsers(gc, form.Status(), usersView{Form: form, Open: true})
		}
		return
	}
	h.showLink(gc, user, token)
}

// showLink answers with the page of users and the set-up link of one, shown once.
func (h *userPages) showLink(gc *gin.Context, user auth.User, token string) {
	h.kit.ShowOnce(gc, usersPath, ui.Secret{Of: usersPath, Name: user.Email, Text: h.setupURL(gc, token)})
}

func (h *userPages) changeUser(gc *gin.Context) {
	var change auth.UserChange
	if role := auth.Role(gc.PostForm("role")); role != "" {
		change.Role = &role
	}
	if state := gc.PostForm("disabled"); state != "" {
		disabled := state == "true"
		change.Disabled = &disabled
	}
	user, err := h.cfg.Users.Change(gc.Request.Context(), gc.Param("id"), change)
	if err != nil {
		h.refuseUser(gc, err)
		return
	}
	h.kit.Done(gc, usersPath, ui.Toast{Kind: "ok", TextID: "users.changed", Args: []string{"Name", user.Name}})
}

func (h *userPages) linkUser(gc *gin.Context) {
	ctx := gc.Request.Context()
	user, err := h.cfg.Users.Get(ctx, gc.Param("id"))
	if err != nil {
		h.refuseUser(gc, err)
		return
	}
	token, err := h.cfg.Users.Links.CreateForUser(ctx, user.ID)
	if err != nil {
		h.refuseUser(gc, err)
		return
	}
	h.showLink(gc, user, token)
}

func userState(u auth.User) string {
	if u.Disabled {
		return "disabled"
	}
	return "enabled"
}

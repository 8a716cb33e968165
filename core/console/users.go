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

func (c *Console) userRoutes() []httpd.Route {
	post := func(path string, h gin.HandlerFunc) httpd.Route {
		return httpd.Route{Method: http.MethodPost, Path: usersPath + path, Policy: httpd.Admin, BodyLimit: formLimit, Audit: httpd.Unaudited,
			Handler: h}
	}
	return []httpd.Route{
		{Method: http.MethodGet, Path: usersPath, Policy: httpd.Admin, Handler: c.showUserList},
		withConfirmation(post("", c.createUser)),
		withConfirmation(post("/:id/change", c.changeUser)),
		withConfirmation(post("/:id/link", c.linkUser)),
		{Method: http.MethodGet, Path: auditPath, Policy: httpd.Admin, Handler: c.showAudit},
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

func (c *Console) showUserList(gc *gin.Context) {
	c.showUsers(gc, http.StatusOK, usersView{Open: ui.Opens(gc, newUser), Link: c.kit.TakeSecret(gc, usersPath)})
}

func (c *Console) showUsers(gc *gin.Context, status int, u usersView) {
	var err error
	if u.Users, err = c.cfg.Users.List(gc.Request.Context()); err != nil {
		c.kit.Fail(gc, err)
		return
	}
	v := c.kit.View(gc, "users.title")
	c.kit.Render(gc, v, status, usersPage(v, u))
}

// refuseUser answers with the page of users and why an action was refused.
func (c *Console) refuseUser(gc *gin.Context, err error) {
	e := fault.As(err)
	if fault.StatusOf(e) >= http.StatusInternalServerError {
		c.kit.Fail(gc, err)
		return
	}
	c.showUsers(gc, fault.StatusOf(e), usersView{Failure: c.kit.View(gc, "").Fault(e)})
}

func (c *Console) createUser(gc *gin.Context) {
	ctx := gc.Request.Context()
	user, token, err := c.cfg.Users.Invite(ctx, gc.PostForm("email"), gc.PostForm("name"), auth.Role(gc.PostForm("role")))
	if err != nil {
		if form, ok := c.kit.ReadForm(gc, err); ok {
			c.showUsers(gc, form.Status(), usersView{Form: form, Open: true})
		}
		return
	}
	c.showLink(gc, user, token)
}

// showLink answers with the page of users and the set-up link of one, shown once.
func (c *Console) showLink(gc *gin.Context, user auth.User, token string) {
	c.kit.ShowOnce(gc, usersPath, ui.Secret{Of: usersPath, Name: user.Email, Text: c.setupURL(gc, token)})
}

func (c *Console) changeUser(gc *gin.Context) {
	var change auth.UserChange
	if role := auth.Role(gc.PostForm("role")); role != "" {
		change.Role = &role
	}
	if state := gc.PostForm("disabled"); state != "" {
		disabled := state == "true"
		change.Disabled = &disabled
	}
	user, err := c.cfg.Users.Change(gc.Request.Context(), gc.Param("id"), change)
	if err != nil {
		c.refuseUser(gc, err)
		return
	}
	c.kit.Done(gc, usersPath, ui.Toast{Kind: "ok", TextID: "users.changed", Args: []string{"Name", user.Name}})
}

func (c *Console) linkUser(gc *gin.Context) {
	ctx := gc.Request.Context()
	user, err := c.cfg.Users.Get(ctx, gc.Param("id"))
	if err != nil {
		c.refuseUser(gc, err)
		return
	}
	token, err := c.cfg.Users.Links.CreateForUser(ctx, user.ID)
	if err != nil {
		c.refuseUser(gc, err)
		return
	}
	c.showLink(gc, user, token)
}

func userState(u auth.User) string {
	if u.Disabled {
		return "disabled"
	}
	return "enabled"
}

package pages

import (
	"strconv"
	"strings"

	"github.com/gin-gonic/gin"

	"github.com/patchbay-dev/patchbay/core/auth"
	"github.com/patchbay-dev/patchbay/core/console/ui"
	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/services/releases/link"
	"github.com/patchbay-dev/patchbay/core/services/releases/reader"
	"github.com/patchbay-dev/patchbay/core/services/releases/syndication"
)

// textOrEmpty returns a text that may be absent.
func textOrEmpty(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// settingsView is what the settings show. Sign-in with a session is needed to change the token.
type settingsView struct {
	// HasPasskey says that a passkey is asked for before a feed for readers is made.
	HasPasskey  bool
	Accounts    []link.Account
	Preferences reader.Preferences
	// HasAccount says that the caller is a user, HasHosts that a code host is in use, HasChannels that notifications go somewhere.
	HasAccount, HasHosts, HasChannels bool
	// SignInName is the name of the code host at which people sign in, "" for none.
	SignInName string
	// Languages are those in which briefs and translations may be read.
	Languages []string
	// HasTranslator says that releases can be translated.
	HasTranslator bool
	// Feeds are the feeds for readers; NewFeed is one that is shown this once.
	Feeds   []syndication.FeedToken
	NewFeed ui.Secret
	// The forms as they were sent.
	TokenForm, Form, FeedForm ui.Form
}

func (p *settingsPages) showSettings(c *gin.Context) {
	p.renderSettings(c, settingsView{NewFeed: p.kit.TakeSecret(c, p.base+settingsPath)})
}

// renderSettings shows the settings with the forms of w.
func (p *settingsPages) renderSettings(c *gin.Context, w settingsView) {
	ctx := c.Request.Context()
	w.HasAccount = auth.From(ctx).HasAccount()
	w.SignInName = p.service.SignInName()
	status, err := p.service.StatusOf(ctx)
	w.HasHosts, w.HasChannels, w.Languages, w.HasTranslator = status.HasHosts, status.HasChannels, status.Languages, status.HasTranslator
	if err == nil {
		w.Preferences, err = p.service.Preferences(ctx)
	}
	if err == nil && w.HasAccount {
		w.Accounts, err = p.service.Accounts(ctx)
	}
	if err == nil && w.HasAccount {
		w.HasPasskey, err = p.service.HasPasskey(ctx)
	}
	if err == nil && w.HasAccount {
		w.Feeds, err = p.service.FeedTokens(ctx)
	}
	if err != nil {
		p.kit.Fail(c, err)
		return
	}
	v := p.newView(c, "releases.nav.settings", settingsPath)
	code := max(w.TokenForm.Status(), w.Form.Status(), w.FeedForm.Status())
	p.kit.Render(c, v, code, settingsPage(v, p.pages, w))
}

func (p *settingsPages) savePreferences(c *gin.Context) {
	hour, err := strconv.Atoi(c.PostForm("brief_hour"))
	if err != nil {
		err = fault.New(fault.BadRequest, "The hour must be from 0 to 23.").With("field", "brief_hour")
	} else {
		err = p.service.SavePreferences(c.Request.Context(), reader.Preferences{
			TimeZone: strings.TrimSpace(c.PostForm("time_zone")), BriefHour: hour, BriefDaily: c.PostForm("brief_daily") != "",
			IncludeOwn:     c.PostForm("include_own") != "",
			NotifyReleases: c.PostForm("notify_releases") != "", NotifyBrief: c.PostForm("notify_brief") != "",
			Language: c.PostForm("translation_language"), AutoTranslate: c.PostForm("auto_translate") != "",
		})
	}
	if err != nil {
		if form, ok := p.kit.ReadForm(c, err); ok {
			p.renderSettings(c, settingsView{Form: form})
		}
		return
	}
	p.finishAction(c, p.base+settingsPath, "releases.saved", nil)
}

func (p *settingsPages) saveToken(c *gin.Context) {
	ctx := c.Request.Context()
	_, err := p.service.AddAccount(ctx, c.PostForm("token"))
	if err == nil {
		err = p.service.StartSync(ctx)
	}
	if err != nil {
		if form, ok := p.kit.ReadForm(c, err); ok {
			p.renderSettings(c, settingsView{TokenForm: form})
		}
		return
	}
	p.finishAction(c, p.base+settingsPath, "releases.token.saved", nil)
}

func (p *settingsPages) setAccountReads(c *gin.Context) {
	_, err := p.service.SetAccountReads(c.Request.Context(), c.Param("id"), link.AccountReads{
		Stars: c.PostForm("stars") != "", Inbox: c.PostForm("inbox") != "", Activity: c.PostForm("activity") != "",
	})
	p.finishAction(c, p.base+settingsPath, "releases.saved", err)
}

func (p *settingsPages) deleteAccount(c *gin.Context) {
	p.finishAction(c, p.base+settingsPath, "releases.account.deleted", p.service.DeleteAccount(c.Request.Context(), c.Param("id")))
}

func (p *settingsPages) addFeed(c *gin.Context) {
	made, err := p.service.AddFeedToken(c.Request.Context(), c.PostForm("name"),
		syndication.FeedSelection{Types: c.PostForm("types"), Query: c.PostForm("q")})
	if err != nil {
		if form, ok := p.kit.ReadForm(c, err); ok {
			p.renderSettings(c, settingsView{FeedForm: form})
		}
		return
	}
	if strings.HasPrefix(made.AtomURL, "/") {
		made.AtomURL = p.service.Origin(c.Request) + made.AtomURL
	}
	p.kit.ShowOnce(c, p.base+settingsPath+"#feeds", ui.Secret{Of: p.base + settingsPath, Name: made.Name, Text: made.AtomURL})
}

func (p *settingsPages) deleteFeed(c *gin.Context) {
	p.finishAction(c, p.base+settingsPath+"#feeds", "releases.feeds.deleted", p.service.DeleteFeedToken(c.Request.Context(), c.Param("id")))
}

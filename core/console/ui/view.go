package ui

import (
	"strings"
	"time"

	"github.com/patchbay-dev/patchbay/core/auth"
	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/lists"
)

// The themes. System follows the browser.
const (
	ThemeSystem = "system"
	ThemeLight  = "light"
	ThemeDark   = "dark"
)

// View is what a page knows of the request that it answers. It belongs to that request alone.
type View struct {
	// Lang and Theme are those of the page.
	Lang, Theme string
	// Path is the address of the page without its query; Target has it.
	Path, Target string
	// Title is the heading of the page, in words.
	Title string
	// Principal is who looks at the page; nil before sign-in.
	Principal *auth.Principal
	// Nav are the groups of the navigation that the principal may see.
	Nav []NavGroup
	// Scripts are static files that this page needs besides the common ones, by plain name.
	Scripts, Styles []string
	// Frames lets the page hold frames of this site, which the policy of other pages does not.
	Frames bool
	// Toast is what the last action has to say; nil if there was none.
	Toast *Toast
	// Warnings are the ids of texts that stand on top of the page.
	Warnings []string
	// Troubles are the providers of the page's service that do not work at present.
	Troubles []Trouble
	// Help is the address of the document about the page; "" for none.
	Help string
	// RequestID is shown where something failed.
	RequestID string
	// Origin is the scheme and host under which the browser sees this server, also behind a proxy that is trusted.
	Origin string
	// Now is when the page is made.
	Now time.Time

	// folds says which groups of the navigation were opened and closed, as in NavCookie.
	folds string
	kit   *Kit
}

// NavGroup is a heading of the navigation with the pages below it.
type NavGroup struct {
	// Service is whose pages they are; "" for the core's.
	Service string
	// TextID is the heading; empty for none.
	TextID string
	Items  []NavItem
}

// NavItem is a page in the navigation.
type NavItem struct {
	TextID, Href string
	// Key is the letter that, after g, opens the page; empty for none.
	Key string
	// Admin pages are not shown to members.
	Admin bool
	// Prefix marks the item for all pages below Href as well.
	Prefix bool
	// Icon is one of the icons; "" for none.
	Icon string
}

// Toast is a short message about what was done.
type Toast struct {
	// Kind is ok, bad or info.
	Kind string
	// TextID and Args make the text.
	TextID string
	Args   []string
}

// T is a text in the language of the page. args are names and values of its parameters in turn.
func (v *View) T(id string, args ...any) string {
	return v.kit.cfg.Texts.Text(v.Lang, id, args...)
}

// N is a text with a count, which picks the plural form and stands in the text as {{.Count}}.
func (v *View) N(id string, count int, args ...any) string {
	return v.kit.cfg.Texts.Plural(v.Lang, id, count, append([]any{"Count", v.Num(int64(count))}, args...)...)
}

// State is the word for a state of the API, such as ready or rolled_back.
func (v *View) State(state string) string {
	if id := "state." + state; v.kit.cfg.Texts.Known(id) {
		return v.T(id)
	}
	return state
}

// Word is the text with an id if there is one, and fallback otherwise, for words that plugins and handlers bring along.
func (v *View) Word(id, fallback string) string {
	if v.kit.cfg.Texts.Known(id) {
		return v.T(id)
	}
	return fallback
}

// Fault is an error in words. English is what faults are written in; other languages have a text for each code, and for a
// code with the field that it is about or the reason that it gives, and for sentences of ours.
func (v *View) Fault(e *fault.Error) string {
	if v.Lang == English {
		return e.Message
	}
	id := "fault." + string(e.Code)
	for _, member := range []string{"reason", "field"} {
		if more, ok := e.Ext[member].(string); ok && v.kit.cfg.Texts.Known(id+"."+more) {
			return v.T(id + "." + more)
		}
	}
	if text, ok := v.DetailText(e.Message); ok {
		return text
	}
	return v.Word(id, e.Message)
}

// faultReason is the sentence of an error in English where Fault has no more than the text of its code; else it is empty.
func (v *View) faultReason(e *fault.Error) string {
	if v.Lang == English || v.Fault(e) != v.Word("fault."+string(e.Code), "") {
		return ""
	}
	return e.Message
}

// Asset is the address of a static file.
func (v *View) Asset(name string) string { return v.kit.cfg.Alone + v.kit.cfg.Assets.URL(name) }

// isAlone reports whether the page is one of a process of its own.
func (v *View) isAlone() bool { return v.kit.cfg.Alone != "" }

// preferencesURL is where the form of the preferences goes.
func (v *View) preferencesURL() string {
	if v.isAlone() {
		return v.kit.cfg.Alone + "/preferences"
	}
	return "/system/preferences"
}

// Admin reports whether the principal may administer.
func (v *View) Admin() bool { return v.Principal != nil && v.Principal.Admin() }

// ServiceURL returns the whole address of a service: its configured one, or, if that is a path, the one that the browser sees.
func (v *View) ServiceURL(configured, path string) string {
	if strings.HasPrefix(configured, "http") {
		return configured
	}
	return v.Origin + path
}

// Current reports whether an item of the navigation leads to this page.
func (v *View) Current(item NavItem) bool {
	return v.Path == item.Href || item.Prefix && strings.HasPrefix(v.Path, item.Href+"/")
}

// Who is the name of the principal.
func (v *View) Who() string {
	switch {
	case v.Principal == nil:
		return ""
	case !v.Principal.HasAccount():
		return v.T("user.developer")
	case v.Principal.User.Name != "":
		return v.Principal.User.Name
	}
	return v.Principal.User.Email
}

// ToastText is the toast in words.
func (v *View) ToastText() string {
	args := lists.ConvertAll(v.Toast.Args, func(a string) any { return a })
	return v.T(v.Toast.TextID, args...)
}

// HTMLLang is the value of the attribute lang.
func (v *View) HTMLLang() string {
	if v.Lang == Chinese {
		return "zh-CN"
	}
	return v.Lang
}

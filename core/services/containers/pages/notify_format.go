package pages

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/a-h/templ"

	"github.com/patchbay-dev/patchbay/core/console/ui"
	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/notify/channels"
	"github.com/patchbay-dev/patchbay/core/texts"
)

// labelShown is how much of what a browser says of itself is shown where it is not known, in characters.
const labelShown = 60

// anyRole reports whether there is a channel whose recipient is set in the console.
func anyRole(n notifyView) bool {
	return slices.ContainsFunc(n.Channels, func(ch channelView) bool { return ch.Available && ch.hasRole() })
}

// cssName is a name as it stands in a selector: a name of an instance may hold a dot.
func cssName(name string) string { return strings.ReplaceAll(name, ".", `\.`) }

// answerTone is the class of the answer to a test.
func answerTone(r *channels.TestResult) string {
	switch {
	case r.OK && len(r.Warnings) == 0:
		return "ok"
	case r.State == "failed":
		return "bad"
	}
	return "warn"
}

// settledAttributes marks a fold whose content will not change any more, so that a live page leaves it open.
func settledAttributes(m channels.SentMessage) templ.Attributes {
	return templ.Attributes{"hx-morph-skip": hasEnded(m)}
}

// autocompleteFor is what a browser may fill into a field.
func autocompleteFor(f setting) string {
	if f.Kind == "password" {
		return "new-password"
	}
	return "off"
}

// exampleHCL is what the configuration lacks for a channel.
func exampleHCL(ch channelView) string {
	name := map[string]string{channels.RoleEmail: "mail", channels.RoleWebPush: "push"}[ch.Name]
	if name == "" {
		name = ch.Name
	}
	refs := append(slices.Clone(ch.Refs), "notify."+name)
	return fmt.Sprintf("notify \"<plugin>\" %q {}\n# in service \"containers\":\nnotify = [%s]", name, strings.Join(refs, ", "))
}

// findSchema is the name of the schema of a payload.
func findSchema(payload json.RawMessage) string {
	var p struct {
		Schema string `json:"schema"`
	}
	if json.Unmarshal(payload, &p) != nil {
		return ""
	}
	return p.Schema
}

// products are the marks by which browsers and systems are recognised in what a browser says of itself, each before those
// whose marks it carries as well.
var products = [...][2]string{{"Edg/", "Edge"}, {"OPR/", "Opera"}, {"Firefox/", "Firefox"}, {"Chrome/", "Chrome"}, {"Safari/", "Safari"}}

var systems = [...][2]string{{"Android", "Android"}, {"iPhone", "iPhone"}, {"iPad", "iPad"}, {"Windows", "Windows"}, {"Mac OS X", "macOS"},
	{"CrOS", "ChromeOS"}, {"Linux", "Linux"}}

// browserName is what a browser says of itself, shortened to what a person tells browsers apart by.
func browserName(v *ui.View, label string) string {
	product, system := findMark(products[:], label), findMark(systems[:], label)
	switch {
	case product != "" && system != "":
		return product + " · " + system
	case product != "":
		return product
	case label == "":
		return v.T("containers.notify.browser.unknown")
	}
	return texts.Truncate(label, labelShown)
}

func findMark(known [][2]string, label string) string {
	for _, k := range known {
		if strings.Contains(label, k[0]) {
			return k[1]
		}
	}
	return ""
}

// faultText are an error in the language of the page where it is known, else in the words of whoever found it, which are
// English. The name of the setting that stands before it in the words of the API is left out.
func faultText(v *ui.View, e *fault.Error) (text, lang string) {
	field, _ := e.Ext["field"].(string)
	reason, _ := e.Ext["reason"].(string)
	own := strings.TrimPrefix(e.Message, field+": ")
	if v.Lang == ui.English {
		return own, v.HTMLLang()
	}
	for _, id := range []string{reason, field} {
		if known := v.Word("fault."+string(e.Code)+"."+id, ""); id != "" && known != "" {
			return known, v.HTMLLang()
		}
	}
	if text, ok := v.DetailText(own); ok {
		return text, v.HTMLLang()
	}
	if e.Code != fault.InvalidArgument {
		return v.Fault(e), v.HTMLLang()
	}
	return own, ui.English
}

// fieldName is the name that a setting has in the page, which an error is about; empty if it is about none.
func fieldName(v *ui.View, e *fault.Error) string {
	field, _ := e.Ext["field"].(string)
	return v.Word("containers.notify.field."+field, "")
}

package pages

import (
	"net/http"
	"strings"

	"github.com/gin-gonic/gin"
)

// docsPath is where the seed of the API has its examples.
const docsPath = "/api-keys/docs"

// example is a request that a program makes, as curl sends it.
type example struct{ TextID, Command string }

// examples are the requests of the page, with a domain and the address of this instance in them.
var examples = []example{
	{"mail.docs.session", `curl -sS -c cookies.txt {url}/api/auth/session \
  -H 'Content-Type: application/json' -d "{\"apiKey\": \"$PATCHBAY_KEY\"}"`},
	{"mail.docs.create", `curl -sS {url}/api/mailboxes -H "Authorization: Bearer $PATCHBAY_KEY" \
  -H 'Content-Type: application/json' -d '{"mailDomain": "{domain}", "expiresInMinutes": 60}'`},
	{"mail.docs.ensure", `curl -sS {url}/api/mailboxes/ensure -H "Authorization: Bearer $PATCHBAY_KEY" \
  -H 'Content-Type: application/json' -d '{"address": "build-42@{domain}"}'`},
	{"mail.docs.code", `curl -sS "{url}/api/messages/code?mailbox=build-42@{domain}&wait=60" \
  -H "Authorization: Bearer $PATCHBAY_KEY"`},
	{"mail.docs.wait", `curl -sS "{url}/api/messages?mailbox=build-42@{domain}&wait=30" \
  -H "Authorization: Bearer $PATCHBAY_KEY"`},
	{"mail.docs.search", `curl -sS -G {url}/api/messages -H "Authorization: Bearer $PATCHBAY_KEY" \
  --data-urlencode 'q=from:ada subject:"your invoice" has:attachment'`},
	{"mail.docs.raw", `curl -sS -O -J {url}/api/messages/$MESSAGE_ID/raw -H "Authorization: Bearer $PATCHBAY_KEY"`},
	{"mail.docs.events", `curl -sS -N {url}/api/messages/events -H "Authorization: Bearer $PATCHBAY_KEY"`},
	{"mail.docs.delete", `curl -sS -X DELETE {url}/api/mailboxes/$MAILBOX_ID -H "Authorization: Bearer $PATCHBAY_KEY"`},
}

func (p pages) showDocs(c *gin.Context) {
	domain := "mail.example.com"
	names, err := p.service.ActiveDomains(c.Request.Context())
	if err != nil {
		p.kit.Fail(c, err)
		return
	}
	if len(names) > 0 {
		domain = names[0]
	}
	v := p.newView(c, "mail.docs.title")
	url := v.ServiceURL(p.url, p.base)
	fill := strings.NewReplacer("{url}", url, "{domain}", domain)
	shown := make([]example, len(examples))
	for i, e := range examples {
		shown[i] = example{e.TextID, fill.Replace(e.Command)}
	}
	p.kit.Render(c, v, http.StatusOK, docsPage(v, p, url, shown))
}

package e2e

import (
	"net/smtp"
	"regexp"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// mailHCL is a mail service that receives on this machine.
const mailHCL = `
dns "manual" "hand" {}
service "mail" {
  base_url = "/mail"
  dns      = dns.hand
  domains  = ["mail.localhost"]
  smtp { listen = "127.0.0.1:0" }
}
`

var smtpListener = regexp.MustCompile(`taking mail in by SMTP: address=(\S+)`)

// smtpAddress is where the core takes mail in.
func (c *core) smtpAddress() (address string) {
	c.t.Helper()
	eventually(c.t, startWithin, "the core takes mail in", func() bool {
		found := smtpListener.FindStringSubmatch(c.logs())
		if found != nil {
			address = found[1]
		}
		return found != nil
	})
	return address
}

// sendMail sends a message to a mailbox by SMTP.
func (c *core) sendMail(to, header, body string) {
	c.t.Helper()
	text := "From: Ada Lovelace <ada@example.com>\r\nTo: " + to + "\r\n" + header + "\r\n\r\n" + strings.ReplaceAll(body, "\n", "\r\n")
	if err := smtp.SendMail(c.smtpAddress(), nil, "ada@example.com", []string{to}, []byte(text)); err != nil {
		c.t.Fatal(err)
	}
}

// hostileHTML tries to run scripts, to load from other sites and to leave its place.
const hostileHTML = `<h1 onclick="parent.ran=1">Quarterly report</h1><script>parent.ran = 1</script><img src=x onerror="parent.ran=1"><svg onload="parent.ran=1"></svg>
<img src="https://images.example.com/pixel.png"><iframe src="https://example.com/"></iframe><link rel="stylesheet" href="https://example.com/x.css"><a href="javascript:parent.ran=1">a link</a>
<p style="background:url(https://example.com/y.png);position:fixed;top:0">text</p><base href="https://example.com/"><meta http-equiv="refresh" content="0;url=https://example.com/"><form action="https://example.com/"><input name="a"></form>`

// TestMailPages makes a mailbox in the browser, sees mail arrive in it, reads it, and looks at every page in every look.
func TestMailPages(t *testing.T) {
	t.Parallel()
	c := startCore(t, mailHCL)
	b := browse(t, c)
	source := axe(t)
	b.open("/mail/inbox")
	b.press("header [data-open]", "#new-mailbox[open]")
	b.do(chromedp.SendKeys(chromedp.CSS("#local-part"), "hello"))
	b.press("#new-mailbox .btn.p", ".messages .empty")
	b.shows("Send a mail to hello@mail.localhost")
	b.do(chromedp.WaitVisible(chromedp.CSS("[data-live-sign]:not(.cut) .on")))
	b.mark()
	c.sendMail("hello@mail.localhost", "Subject: Your verification code: 482913", "The code is 482913. It is valid for ten minutes.\n")
	b.shows("482913")
	b.marked("the list of messages")
	b.press("a.message.new", "#reader .verification")
	b.shows("It is valid for ten minutes.")
	evaluated(b, "a message that was opened is new no more", `!document.querySelector("a.message.new")`, true)

	c.sendMail("hello@mail.localhost", "Subject: Quarterly report\r\nMIME-Version: 1.0\r\nContent-Type: text/html; charset=utf-8", hostileHTML)
	b.shows("Quarterly report")
	b.press("a.message.new", "iframe.mail-html")
	const frame = `document.querySelector("iframe.mail-html").contentDocument`
	eventually(t, browserLimit, "the frame shows the message", func() bool {
		shown, err := evaluate[bool](b, frame+`.body.innerText.includes("Quarterly report")`)
		return err == nil && shown
	})
	evaluated(b, "nothing in the message was run", `window.ran === undefined`, true)
	evaluated(b, "what could run is gone", frame+`.querySelectorAll("script, iframe, svg, link, base, meta[http-equiv], form, [onclick], [onerror]").length`, 0)
	evaluated(b, "nothing covers the page", `getComputedStyle(`+frame+`.querySelector("p")).position`, "static")

	message, err := evaluate[string](b, "location.search")
	if err != nil {
		t.Fatal(err)
	}
	b.open("/system")
	b.shows("Unread mail, last 7 days")
	b.shows("0 with a code")
	c.sendMail("hello@mail.localhost", "Subject: Your verification code: 907113", "The code is 907113.\n")
	b.shows("1 with a code")
	b.open("/mail/deploy-check")
	b.press("form[action$='/deploy-check'] .btn.p", "#check-0 .pill")
	for name, path := range map[string]string{
		"inbox": "/mail/inbox", "mailbox": strings.Replace("/mail/inbox"+message, "message=", "m=", 1), "message": "/mail/inbox" + message, "headers": "/mail/inbox" + message + "&view=headers",
		"nothing": "/mail/inbox?q=nothing-has-this-word", "expired": "/mail/inbox?show=expired", "domains": "/mail/domains", "deploy": "/mail/deploy-check", "docs": "/mail/api-keys/docs",
	} {
		b.walk("mail-"+name, path, source, wide, narrow)
	}
	b.as(wide)
	b.expect("400")
	b.open("/mail/inbox?open=new-mailbox")
	b.do(chromedp.SendKeys(chromedp.CSS("#local-part"), "not an address"))
	b.press("#new-mailbox .btn.p", "#new-mailbox .error")
	b.open("/mail/inbox" + message)
	b.do(chromedp.Click(chromedp.CSS("#box-settings summary")))
	b.confirm("#box-settings summary.btn.bad", "hello@mail.localhost", ".toast.ok")
	b.shows("The mailbox was deleted.")
}

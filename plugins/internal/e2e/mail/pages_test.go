package mail

import (
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/patchbay-dev/patchbay/plugins/internal/e2e/kit"
)

// hostileHTML tries to run scripts, to load from other sites and to leave its place.
const hostileHTML = `<h1 onclick="parent.ran=1">Quarterly report</h1><script>parent.ran = 1</script><img src=x onerror="parent.ran=1"><svg onload="parent.ran=1"></svg>
<img src="https://images.example.com/pixel.png"><iframe src="https://example.com/"></iframe><link rel="stylesheet" href="https://example.com/x.css"><a href="javascript:parent.ran=1">a link</a>
<p style="background:url(https://example.com/y.png);position:fixed;top:0">text</p><base href="https://example.com/"><meta http-equiv="refresh" content="0;url=https://example.com/"><form action="https://example.com/"><input name="a"></form>`

// designedHeader and designedMail are a mail that somebody has designed, with an invitation.
const (
	designedHeader = "Cc: Charles <charles@example.com>\r\nSubject: Spring sale\r\nDate: Sat, 21 Nov 2026 10:00:00 +0000\r\nMIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary=b"
	designedMail   = `--b
Content-Type: text/html; charset=utf-8

<html><head><style type="text/css">body{margin:0;font-family:Arial,sans-serif}.card{width:600px;margin:24px auto;background:#fff;border-radius:8px;overflow:hidden}.hero{background:#123456;color:#fff;padding:40px 32px;font-size:28px}
.logo{width:120px;height:40px;background:url(cid:logo@shop) repeat}.body{padding:24px 32px;line-height:1.5;color:#222}.button{display:inline-block;background:#c2410c;color:#fff;padding:12px 28px;border-radius:6px;text-decoration:none}
@media only screen and (max-width:620px){.card{width:100%!important;margin:0!important;border-radius:0}.hero{font-size:20px!important}}</style></head>
<body bgcolor="#eeeeee"><table class="card" cellpadding="0" cellspacing="0"><tr><td class="hero"><div class="logo"></div>Spring sale: 20 % off</td></tr>
<tr><td class="body"><p>Everything for the garden is cheaper until Sunday. <img src="data:image/gif;base64,R0lGODlhAQABAIAAAP///wAAACH5BAEAAAAALAAAAAABAAEAAAICRAEAOw==" alt="" width="1" height="1"></p><p><a class="button" href="https://shop.example.com/">Open the shop</a></p></td></tr></table></body></html>
--b
Content-Type: image/gif
Content-ID: <logo@shop>
Content-Disposition: inline
Content-Transfer-Encoding: base64

R0lGODlhAQABAIAAAP8AAAAAACH5BAAAAAAALAAAAAABAAEAAAICRAEAOw==
--b
Content-Type: text/calendar; charset=utf-8; method=REQUEST

BEGIN:VCALENDAR
METHOD:REQUEST
BEGIN:VEVENT
SUMMARY:Sale opens
LOCATION:Main hall
ORGANIZER;CN=Ada:mailto:ada@example.com
DTSTART:20261201T090000Z
DTEND:20261201T100000Z
END:VEVENT
END:VCALENDAR
--b--
`
)

// TestMailPages makes a mailbox in the browser, sees mail arrive in it, reads it, and looks at every page in every look.
func TestMailPages(t *testing.T) {
	t.Parallel()
	c := kit.StartCore(t, kit.MailHCL)
	b := kit.Browse(t, c)
	source := kit.ReadAxe(t)
	b.Open("/mail/inbox")
	b.Press("header [data-open]", "#new-mailbox[open]")
	b.Do(chromedp.SendKeys(chromedp.CSS("#local-part"), "hello"))
	b.Press("#new-mailbox .btn.p", ".messages .empty")
	b.Shows("Send a mail to hello@mail.localhost")
	b.Do(chromedp.WaitVisible(chromedp.CSS("[data-live-sign]:not(.cut) .on")))
	b.Mark()
	c.SendMail("hello@mail.localhost", "Subject: Your verification code: 482913", "The code is 482913. It is valid for ten minutes.\n")
	b.Shows("482913")
	b.Marked("the list of messages")
	b.Press("a.message.new", "#reader .verification")
	b.Shows("It is valid for ten minutes.")
	kit.RequireValue(b, "a message that was opened is new no more", `!document.querySelector("a.message.new")`, true)

	c.SendMail("hello@mail.localhost", "Subject: Quarterly report\r\nMIME-Version: 1.0\r\nContent-Type: text/html; charset=utf-8", hostileHTML)
	b.Shows("Quarterly report")
	b.Press("a.message.new", "iframe.mail-html")
	const frame = `document.querySelector("iframe.mail-html").contentDocument`
	kit.Eventually(t, kit.BrowserLimit, "the frame shows the message", func() bool {
		shown, err := kit.Evaluate[bool](b, frame+`.body.innerText.includes("Quarterly report")`)
		return err == nil && shown
	})
	kit.RequireValue(b, "nothing in the message was run", `window.ran === undefined`, true)
	kit.RequireValue(b, "what could run is gone", frame+`.querySelectorAll("script, iframe, svg, link, base, meta[http-equiv], form, [onclick], [onerror]").length`, 0)
	kit.RequireValue(b, "nothing covers the page", `getComputedStyle(`+frame+`.querySelector("p")).position`, "static")

	message, err := kit.Evaluate[string](b, "location.search")
	if err != nil {
		t.Fatal(err)
	}
	c.SendMail("hello@mail.localhost", designedHeader, designedMail)
	b.Shows("Spring sale")
	b.Press("a.message.new", "iframe.mail-html")
	for _, text := range []string{"Cc", "Charles <charles@example.com>", "21 Nov 2026, 10:00:00 UTC", "Invitation: Sale opens",
		"1 Dec 2026, 09:00:00 UTC – 1 Dec 2026, 10:00:00 UTC", "Main hall", "invite.ics"} {
		b.Shows(text)
	}
	for what, script := range map[string]string{
		"the style sheet holds": frame + `.defaultView.getComputedStyle(` + frame +
			`.querySelector(".hero")).backgroundColor === "rgb(18, 52, 86)"`,
		"the body has its colour":         `getComputedStyle(` + frame + `.body).backgroundColor === "rgb(238, 238, 238)"`,
		"the own image is the background": `getComputedStyle(` + frame + `.querySelector(".logo")).backgroundImage.includes("/attachments/att_")`,
		"the data: image is shown":        frame + `.querySelector("img").naturalWidth === 1`,
	} {
		kit.Eventually(t, kit.BrowserLimit, what, func() bool {
			holds, err := kit.Evaluate[bool](b, script)
			return err == nil && holds
		})
	}
	designed, err := kit.Evaluate[string](b, "location.search")
	if err != nil {
		t.Fatal(err)
	}
	b.Press(".widen", ".inbox.wide")
	kit.RequireValue(b, "the message has the width of the page",
		`document.querySelector("iframe.mail-html").clientWidth > 0.9 * document.querySelector("main").clientWidth - 60`, true)

	b.Open("/system")
	b.Shows("Unread mail, last 7 days")
	b.Shows("0 with a code")
	c.SendMail("hello@mail.localhost", "Subject: Your verification code: 907113", "The code is 907113.\n")
	b.Shows("1 with a code")
	b.Open("/mail/deploy-check")
	b.Press("form[action$='/deploy-check'] .btn.p", "#check-0 .pill")
	for name, path := range map[string]string{
		"inbox": "/mail/inbox", "mailbox": strings.Replace("/mail/inbox"+message, "message=", "m=", 1), "message": "/mail/inbox" + message,
		"headers":  "/mail/inbox" + message + "&view=headers",
		"designed": "/mail/inbox" + designed, "designed-wide": "/mail/inbox" + designed + "&wide=1",
		"nothing": "/mail/inbox?q=nothing-has-this-word", "expired": "/mail/inbox?show=expired", "domains": "/mail/domains",
		"deploy": "/mail/deploy-check", "docs": "/mail/api-keys/docs",
	} {
		b.Walk("mail-"+name, path, source, kit.Wide, kit.Narrow)
	}
	b.As(kit.Wide)
	b.Expect("400")
	b.Open("/mail/inbox?open=new-mailbox")
	b.Do(chromedp.SendKeys(chromedp.CSS("#local-part"), "not an address"))
	b.Press("#new-mailbox .btn.p", "#new-mailbox .error")
	b.Open("/mail/inbox" + message)
	b.Do(chromedp.Click(chromedp.CSS("#box-settings summary")))
	b.Confirm("#box-settings summary.btn.bad", "hello@mail.localhost", ".toast.ok")
	b.Shows("The mailbox was deleted.")
}

package kit

import (
	"net/smtp"
	"regexp"
	"strings"
)

// MailHCL is a mail service that receives on this machine.
const MailHCL = `
dns "manual" "hand" {}
service "mail" {
  base_url = "/mail"
  dns      = dns.hand
  domains  = ["mail.localhost"]
  smtp { listen = "127.0.0.1:0" }
}
`

// SMTPListener matches the log line that tells the address of SMTP.
var SMTPListener = regexp.MustCompile(`SMTP listening: address=(\S+)`)

// SMTPAddress is where the core takes mail in.
func (c *Core) SMTPAddress() (address string) {
	c.T.Helper()
	Eventually(c.T, StartWithin, "the core takes mail in", func() bool {
		// Each start may take another port.
		found := SMTPListener.FindAllStringSubmatch(c.Logs(), -1)
		if found != nil {
			address = found[len(found)-1][1]
		}
		return found != nil
	})
	return address
}

// SendMail sends a message to a mailbox by SMTP.
func (c *Core) SendMail(to, header, body string) {
	c.T.Helper()
	c.SendMailFrom("Ada Lovelace <ada@example.com>", to, header, body)
}

// SendMailFrom sends a mail as SendMail does, from a name and address.
func (c *Core) SendMailFrom(from, to, header, body string) {
	c.T.Helper()
	text := "From: " + from + "\r\nTo: " + to + "\r\n" + header + "\r\n\r\n" + strings.ReplaceAll(body, "\n", "\r\n")
	if err := smtp.SendMail(c.SMTPAddress(), nil, "ada@example.com", []string{to}, []byte(text)); err != nil {
		c.T.Fatal(err)
	}
}

package mail

import (
	"fmt"
	"net"
	"time"

	"github.com/patchbay-dev/patchbay/core/auth"
	"github.com/patchbay-dev/patchbay/core/services/mail/address"
	"github.com/patchbay-dev/patchbay/core/services/mail/api"
	"github.com/patchbay-dev/patchbay/core/services/mail/authresult"
	"github.com/patchbay-dev/patchbay/core/services/mail/deploycheck"
	"github.com/patchbay-dev/patchbay/core/services/mail/mailbox"
	"github.com/patchbay-dev/patchbay/sdk/schema"
)

// Settings is the block service "mail" of plugin.hcl.
type Settings struct {
	BaseURL       string         `patchbay:"base_url,default=/mail" doc:"Path, or absolute URL, below which the service is mounted."`
	DNS           string         `patchbay:"dns,default=,ref=dns" doc:"The DNS provider of the mail domains, such as dns.main. Without one, domains are active at once and their records are set by hand."`
	Domains       []string       `patchbay:"domains" doc:"Mail domains without a DNS provider, created again if somebody deletes them, such as [\"mail.localhost\"]."`
	MXHost        string         `patchbay:"mx_host,default=" doc:"The host name of this server, which MX records name. Unset: the hostname of the first listener."`
	InboundSecret schema.Secret  `patchbay:"inbound_secret,default=,env=SVC_MAIL_INBOUND_SECRET" doc:"Shared secret of POST /api/inbound, at least 16 characters. Unset: the endpoint refuses everything."`
	Resolver      string         `patchbay:"resolver,default=" doc:"The DNS server that SPF, DKIM and DMARC ask, such as 127.0.0.1:53. Unset: those of this machine."`
	Notify        []string       `patchbay:"notify,ref=notify" doc:"Channels for new mail, such as [notify.hook]."`
	SMTP          []SMTPSettings `patchbay:"smtp" doc:"Each block is an SMTP listener."`
	Limits        LimitSettings  `patchbay:"limits" doc:"How much may be kept."`
}

// SMTPSettings is an smtp block.
type SMTPSettings struct {
	Listen         string        `patchbay:"listen,default=127.0.0.1:2525" doc:"Where to listen, such as 0.0.0.0:25. A change needs a restart."`
	Hostname       string        `patchbay:"hostname,default=localhost" doc:"The name that the server announces."`
	TLSCert        string        `patchbay:"tls_cert,default=" doc:"Certificate file for STARTTLS, in PEM; read again when it changes."`
	TLSKey         string        `patchbay:"tls_key,default=" doc:"Key file of tls_cert."`
	MaxSize        int64         `patchbay:"max_message_bytes,default=26214400" doc:"The largest message, in bytes."`
	MaxRecipients  int64         `patchbay:"max_recipients,default=100" doc:"Recipients of one message."`
	MaxConnections int64         `patchbay:"max_connections,default=500" doc:"Open connections."`
	PerAddress     int64         `patchbay:"max_connections_each,default=20" doc:"Open connections from one address (IPv6: one /64)."`
	RatePerMinute  int64         `patchbay:"rate_per_minute,default=600" doc:"Messages in a minute from one address (IPv6: one /64), at least 5,000 for programs on this machine; 0 for no limit."`
	Timeout        time.Duration `patchbay:"timeout,default=5m" doc:"Longest silence of a connection."`
	ProxyProtocol  []string      `patchbay:"proxy_protocol" doc:"CIDRs of proxies whose PROXY protocol header names the client, such as [\"10.0.0.0/8\"]. None: the protocol is off."`
}

// LimitSettings is the limits block.
type LimitSettings struct {
	PerUser     int64         `patchbay:"mailboxes_per_user,default=10000" doc:"Mailboxes of one member; 0 for no limit."`
	CatchAll    int64         `patchbay:"catch_all_mailboxes,default=10000" doc:"Mailboxes that the catch-all of one domain creates; 0 for no limit."`
	Messages    int64         `patchbay:"messages_per_mailbox,default=0" doc:"Messages that a mailbox keeps; the oldest go first. 0 for no limit."`
	Retention   time.Duration `patchbay:"retention,default=0s" doc:"How long to keep messages; 0 for as long as their mailbox."`
	ParseBudget int64         `patchbay:"parse_parallel,default=4" doc:"Messages parsed at the same time, 1 to 64."`
}

// mailboxLimits returns the limits of mailboxes.
func (s Settings) mailboxLimits() mailbox.Limits {
	return mailbox.Limits{PerUser: s.Limits.PerUser, CatchAll: s.Limits.CatchAll}
}

// defaultMessageBytes is the largest message where no smtp block says more.
const defaultMessageBytes = 25 << 20

// apiSettings returns what the API needs of the settings.
func (s Settings) apiSettings(access auth.Access) api.Settings {
	out := api.Settings{Access: access, InboundSecret: s.InboundSecret.Reveal(),
		Deploy: deploycheck.Config{Resolver: authresult.NewResolver(s.Resolver), Host: s.mxHost()}}
	for _, l := range s.SMTP {
		out.MaxMessageBytes = max(out.MaxMessageBytes, l.MaxSize)
		out.Deploy.Listeners = append(out.Deploy.Listeners, deploycheck.Listener{Address: l.Listen, Hostname: l.Hostname, CertFile: l.TLSCert,
			KeyFile: l.TLSKey})
	}
	if out.MaxMessageBytes == 0 {
		out.MaxMessageBytes = defaultMessageBytes
	}
	return out
}

// mxHost returns the host that MX records name, "" if it is not known.
func (s Settings) mxHost() string {
	if s.MXHost != "" || len(s.SMTP) == 0 {
		return s.MXHost
	}
	host, err := address.ParseDomain(s.SMTP[0].Hostname)
	if err != nil {
		return ""
	}
	return host
}

// Check finds what the types of the settings cannot express.
func (s Settings) Check() (out schema.Diagnostics) {
	for i, name := range s.Domains {
		if _, err := address.ParseDomain(name); err != nil {
			out = append(out, schema.Errorf(schema.At("domains").Index(i), "must be a host name of at least two labels, such as mail.localhost")...)
		}
	}
	if _, err := address.ParseDomain(s.MXHost); s.MXHost != "" && err != nil {
		out = append(out, schema.Errorf(schema.At("mx_host"), "must be a host name of at least two labels, such as mx.example.com")...)
	}
	if n := len(s.InboundSecret.Reveal()); n > 0 && n < 16 {
		out = append(out, schema.Errorf(schema.At("inbound_secret"), "must have at least 16 characters")...)
	}
	at := schema.At("limits")
	out = append(out, checkRanges(at, []valueRange{
		{"mailboxes_per_user", s.Limits.PerUser, 0, 1e9}, {"catch_all_mailboxes", s.Limits.CatchAll, 0, 1e9},
		{"messages_per_mailbox", s.Limits.Messages, 0, 1e9}, {"parse_parallel", s.Limits.ParseBudget, 1, 64},
	})...)
	if s.Limits.Retention < 0 || s.Limits.Retention > 0 && s.Limits.Retention < time.Hour {
		out = append(out, schema.Errorf(at.Attr("retention"), "must be 0s, or at least 1h")...)
	}
	if _, _, err := net.SplitHostPort(s.Resolver); s.Resolver != "" && err != nil {
		out = append(out, schema.Errorf(schema.At("resolver"), "must be host:port, such as 127.0.0.1:53")...)
	}
	for i, listener := range s.SMTP {
		out = append(out, listener.check(schema.At("smtp").Index(i))...)
	}
	return out
}

// check finds what the types of the smtp block cannot express.
func (s SMTPSettings) check(at schema.Path) (out schema.Diagnostics) {
	if _, _, err := net.SplitHostPort(s.Listen); err != nil {
		out = append(out, schema.Errorf(at.Attr("listen"), "must be host:port, such as 127.0.0.1:2525")...)
	}
	if (s.TLSCert == "") != (s.TLSKey == "") {
		out = append(out, schema.Errorf(at.Attr("tls_cert"), "and tls_key belong together: set both, or none")...)
	}
	for i, network := range s.ProxyProtocol {
		if _, _, err := net.ParseCIDR(network); err != nil {
			out = append(out, schema.Errorf(at.Attr("proxy_protocol").Index(i), "must be a CIDR, such as 10.0.0.0/8")...)
		}
	}
	return append(out, checkRanges(at, []valueRange{
		{"max_message_bytes", s.MaxSize, 1024, 256 << 20}, {"max_recipients", s.MaxRecipients, 1, 1000},
		{"max_connections", s.MaxConnections, 1, 100_000},
		{"max_connections_each", s.PerAddress, 1, 100_000}, {"rate_per_minute", s.RatePerMinute, 0, 1e6},
		{"timeout", int64(s.Timeout / time.Second), 1, 3600},
	})...)
}

// valueRange is an attribute with its value and the bounds of it.
type valueRange struct {
	name      string
	v, lo, hi int64
}

func checkRanges(at schema.Path, values []valueRange) (out schema.Diagnostics) {
	for _, r := range values {
		if r.v < r.lo || r.v > r.hi {
			out = append(out, schema.Errorf(at.Attr(r.name), "%s", fmt.Sprintf("must be from %d to %d", r.lo, r.hi))...)
		}
	}
	return out
}

// Package email is the notification channel that sends mail through an SMTP server: one message with a plain and an HTML
// text to all recipients that the server's address names.
package email

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/patchbay-dev/patchbay/sdk/framework"
	"github.com/patchbay-dev/patchbay/sdk/notify"
	"github.com/patchbay-dev/patchbay/sdk/schema"
)

// Config is the config block of an instance.
type Config struct {
	SMTPURL       schema.Secret `patchbay:"smtp_url" doc:"The server and the recipients: smtp://user:password@host:587/?to=a@example.com,b@example.com&from=Name <x@example.com>, or smtps:// for TLS from the start; empty leaves it to each recipient. User and password are percent-encoded. tls=required, opportunistic or none says how smtp:// is encrypted."`
	CAFile        string        `patchbay:"ca_file" doc:"PEM file of a certificate authority to trust as well, relative to the configuration file."`
	SubjectPrefix string        `patchbay:"subject_prefix,default=[Patchbay] " doc:"Prefix of each subject."`
	AllowHosts    []string      `patchbay:"allow_hosts" doc:"Private SMTP servers that a recipient may name: names, addresses or networks; name:port allows that port only. The server of smtp_url needs no entry."`
	Timeout       time.Duration `patchbay:"timeout,default=25s" doc:"Longest time for one mail."`
}

const targetSchema = `{"type":"object","additionalProperties":false}`

// Plugin declares the plugin.
func Plugin() framework.Plugin {
	return framework.Plugin{
		Name:    "email",
		Version: "1.0.0",
		Summary: "Sends notifications as mail through an SMTP server.",
		Documentation: "STARTTLS is used wherever the server offers it, and certificates are always checked. Without encryption a password is sent to loopback addresses only. " +
			"A recipient's own SMTP address counts where `smtp_url` is not set; it may name a server in a private network only if `allow_hosts` does. If the server refuses some recipients and takes others, the mail counts as sent, with a warning.",
		Kinds: []framework.Kind{notify.New(notify.Definition[Config]{
			Role: notify.RoleEmail, PerUserTarget: true, HTML: true, TargetSchema: targetSchema, Build: buildInstance,
		})},
	}
}

const (
	maxTimeout = 90 * time.Second
	maxPrefix  = 100
)

func buildInstance(inst notify.Instance, cfg Config) (notify.Open, schema.Diagnostics) {
	c := &channel{cfg: cfg, log: inst.Log}
	var diags schema.Diagnostics
	if cfg.SMTPURL != "" {
		var err error
		if c.server, err = parseServer(cfg.SMTPURL); err != nil {
			diags = append(diags, schema.Errorf(schema.At("smtp_url"), "%v", err)...)
		}
	}
	var err error
	if c.guard, err = newGuard(cfg.AllowHosts); err != nil {
		diags = append(diags, schema.Errorf(schema.At("allow_hosts"), "%v", err)...)
	}
	roots, err := loadAuthorities(inst.BaseDir, cfg.CAFile)
	if err != nil {
		diags = append(diags, schema.Errorf(schema.At("ca_file"), "%v", err)...)
	}
	c.tls = &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}
	if len(cfg.SubjectPrefix) > maxPrefix || !isPrintable(cfg.SubjectPrefix) {
		diags = append(diags, schema.Errorf(schema.At("subject_prefix"), "must be one line of at most %d bytes", maxPrefix)...)
	}
	if cfg.Timeout <= 0 || cfg.Timeout > maxTimeout {
		diags = append(diags, schema.Errorf(schema.At("timeout"), "must be more than 0 and at most %s", maxTimeout)...)
	}
	if diags.HasErrors() {
		return nil, diags
	}
	return func(context.Context) (notify.Channel, error) {
		c.layout, err = parseLayout()
		return c, err
	}, diags
}

// loadAuthorities returns the system's certificate authorities with those of a file, or nil for the system's alone.
func loadAuthorities(base, path string) (*x509.CertPool, error) {
	if path == "" {
		return nil, nil
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(base, path)
	}
	pem, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("cannot be read: %w", errors.Unwrap(err))
	}
	pool, err := x509.SystemCertPool()
	if err != nil {
		pool = x509.NewCertPool()
	}
	if !pool.AppendCertsFromPEM(pem) {
		return nil, errors.New("holds no certificate in PEM form")
	}
	return pool, nil
}

// ValidateTarget implements notify.TargetValidator.
func (c *channel) ValidateTarget(to notify.Target) schema.Diagnostics {
	_, diags := c.serverFor(to)
	return diags
}

// serverFor returns the server that a call goes to. What the configuration says goes before what the target says.
func (c *channel) serverFor(to notify.Target) (*server, schema.Diagnostics) {
	var members map[string]json.RawMessage
	if len(to.JSON) > 0 && (json.Unmarshal(to.JSON, &members) != nil || len(members) > 0) {
		return nil, schema.Errorf(nil, "the target has no members: all is in the secret, the SMTP address")
	}
	switch {
	case c.server != nil:
		return c.server, nil
	case to.Secret == "":
		return nil, schema.Errorf(nil, "the secret: there is no SMTP address")
	}
	s, err := parseServer(to.Secret)
	if err == nil {
		err = s.checkAddress(c.guard)
	}
	if err != nil {
		return nil, schema.Errorf(nil, "the secret: %v", err)
	}
	return s, nil
}

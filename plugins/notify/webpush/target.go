package webpush

import (
	"bytes"
	"crypto/ecdh"
	"encoding/base64"
	"encoding/json"
	"errors"
	"net/mail"
	"net/url"
	"strings"

	"github.com/patchbay-dev/patchbay/sdk/notify"
	"github.com/patchbay-dev/patchbay/sdk/schema"
)

// pair is the sender's keys, base64url without padding.
type pair struct{ public, private string }

// recipient is where a call goes, and who sends.
type recipient struct {
	endpoint     *url.URL
	p256dh, auth string
	pair         pair
	subject      string
}

func decodeKey(text string) ([]byte, error) {
	return base64.RawURLEncoding.DecodeString(strings.TrimRight(text, "="))
}

func encodeKey(raw []byte) string { return base64.RawURLEncoding.EncodeToString(raw) }

// parsePair checks that both keys are keys and belong together. No error holds a key; atSecret tells which one it is about.
func parsePair(public, private string) (_ pair, atSecret bool, err error) {
	raw, err := decodeKey(public)
	if err != nil {
		return pair{}, false, errors.New("the public key is not base64url")
	}
	theirs, err := ecdh.P256().NewPublicKey(raw)
	if err != nil {
		return pair{}, false, errors.New("the public key is no point on P-256 in 65 bytes")
	}
	secret, err := decodeKey(private)
	if err != nil {
		return pair{}, true, errors.New("the private key is not base64url")
	}
	key, err := ecdh.P256().NewPrivateKey(secret)
	if err != nil {
		return pair{}, true, errors.New("the private key is no key for P-256 in 32 bytes")
	}
	if !key.PublicKey().Equal(theirs) {
		return pair{}, true, errors.New("the private key does not belong to the public key")
	}
	return pair{public: encodeKey(raw), private: encodeKey(secret)}, false, nil
}

func checkSubject(subject string) error {
	if address, ok := strings.CutPrefix(subject, "mailto:"); ok {
		if a, err := mail.ParseAddress(address); err == nil && a.Address == address {
			return nil
		}
		return errors.New("no address stands behind mailto")
	}
	if u, err := url.Parse(subject); err == nil && strings.HasPrefix(subject, "https:") && u.Hostname() != "" && u.User == nil {
		return nil
	}
	return errors.New("must begin with mailto: or https: and hold an address")
}

// ValidateTarget implements notify.TargetValidator.
func (c *channel) ValidateTarget(to notify.Target) schema.Diagnostics {
	_, diags := c.readRecipient(to)
	return diags
}

// readRecipient reads a target. What the configuration says goes before what the target says.
func (c *channel) readRecipient(to notify.Target) (*recipient, schema.Diagnostics) {
	var in notify.PushTarget
	if len(to.JSON) > 0 {
		dec := json.NewDecoder(bytes.NewReader(to.JSON))
		dec.DisallowUnknownFields()
		if err := dec.Decode(&in); err != nil {
			return nil, schema.Errorf(nil, "the target must be an object with the members endpoint, keys, vapidPublicKey and vapidSubject")
		}
	}
	out := &recipient{pair: c.pair, subject: c.cfg.VAPIDSubject}
	diags := c.checkSubscription(in, out)
	if out.pair == (pair{}) {
		diags = append(diags, out.takePair(in.VAPIDPublicKey, to.Secret.Reveal())...)
	}
	if out.subject == "" {
		if err := checkSubject(in.VAPIDSubject); err != nil {
			diags = append(diags, schema.Errorf(schema.At("vapidSubject"), "%v", err)...)
		}
		out.subject = in.VAPIDSubject
	}
	return out, diags
}

// checkSubscription checks what the browser has told.
func (c *channel) checkSubscription(in notify.PushTarget, out *recipient) (diags schema.Diagnostics) {
	var err error
	if out.endpoint, err = c.parseAddress(in.Endpoint); err != nil {
		diags = append(diags, schema.Errorf(schema.At("endpoint"), "%v", err)...)
	}
	keys := schema.At("keys")
	raw, err := decodeKey(in.Keys.P256dh)
	if err == nil {
		_, err = ecdh.P256().NewPublicKey(raw)
	}
	if err != nil {
		diags = append(diags, schema.Errorf(keys.Attr("p256dh"), "must be a point on P-256, 65 bytes in base64url")...)
	}
	out.p256dh = encodeKey(raw)
	if raw, err = decodeKey(in.Keys.Auth); err != nil || len(raw) != 16 {
		diags = append(diags, schema.Errorf(keys.Attr("auth"), "must be 16 bytes in base64url")...)
	}
	out.auth = encodeKey(raw)
	return diags
}

func (r *recipient) takePair(public, private string) schema.Diagnostics {
	if public == "" {
		return schema.Errorf(schema.At("vapidPublicKey"), "there is no public key")
	}
	if private == "" {
		return schema.Errorf(nil, "the secret: there is no private key")
	}
	p, atSecret, err := parsePair(public, private)
	switch {
	case err != nil && atSecret:
		return schema.Errorf(nil, "the secret: %v", err)
	case err != nil:
		return schema.Errorf(schema.At("vapidPublicKey"), "%v", err)
	}
	r.pair = p
	return nil
}

// parseAddress checks a subscription's address. The error does not hold it: who knows it may push.
func (c *channel) parseAddress(raw string) (*url.URL, error) {
	if raw == "" {
		return nil, errors.New("there is no address to push to")
	}
	u, err := url.Parse(raw)
	if err != nil {
		return nil, errors.New("address cannot be parsed")
	}
	u.Fragment, u.RawFragment = "", ""
	if err := c.guard.CheckURL(u); err != nil {
		return nil, err
	}
	if u.Scheme != "https" && !c.allowsPlainHTTP(u) {
		return nil, errors.New("address must start with https://")
	}
	return u, nil
}

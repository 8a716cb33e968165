package signin

import (
	"github.com/patchbay-dev/patchbay/sdk/schema"
)

// Settings is the block sign_in of the service.
type Settings struct {
	Name         string        `patchbay:"name,default=the code host" doc:"Name of the code host, such as GitHub."`
	ClientID     string        `patchbay:"client_id,default=" doc:"Client id of the OAuth application. Unset: no sign-in. Its callback is public_url, base_url and /sign-in/callback."`
	ClientSecret schema.Secret `patchbay:"client_secret,default=" doc:"Secret of the application."`
	SignUp       bool          `patchbay:"sign_up,default=false" doc:"Create an account for people who sign in for the first time."`
	Logins       []string      `patchbay:"logins" doc:"Logins that may create an account. None: everybody at the code host."`
}

// Enabled reports whether people sign in at the code host.
func (s Settings) Enabled() bool { return s.ClientID != "" }

// Check finds what the types cannot express.
func (s Settings) Check(hasHosts bool) (out schema.Diagnostics) {
	at := schema.At("sign_in")
	if (s.ClientID == "") != (s.ClientSecret == "") {
		out = append(out, schema.Errorf(at.Attr("client_secret"), "client_id and client_secret belong together: set both or none")...)
	}
	if s.Enabled() && !hasHosts {
		out = append(out, schema.Errorf(at.Attr("client_id"), "needs codehosts: people sign in at the first one")...)
	}
	if !s.Enabled() && (s.SignUp || len(s.Logins) > 0) {
		out = append(out, schema.Errorf(at.Attr("client_id"), "must be set for sign_up and logins")...)
	}
	return out
}

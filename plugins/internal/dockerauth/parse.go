package dockerauth

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// entry is what stands in the file for one registry.
type entry struct{ user, password, identityToken string }

// file is the part of a configuration that matters here.
type file struct {
	Auths map[string]struct {
		Auth, Username, Password, IdentityToken string
	}
	CredHelpers map[string]string
	CredsStore  string
}

// parseConfig reads a configuration. Its errors hold nothing of it.
func parseConfig(raw []byte) (*Config, error) {
	var f file
	if err := json.Unmarshal(raw, &f); err != nil {
		var at *json.SyntaxError
		if errors.As(err, &at) {
			return nil, fmt.Errorf("it is no JSON at byte %d", at.Offset)
		}
		return nil, errors.New("a member is of another type than it should be")
	}
	c := &Config{auths: map[string]entry{}, helpers: f.CredHelpers, store: f.CredsStore}
	for name, a := range f.Auths {
		e := entry{user: a.Username, password: a.Password, identityToken: a.IdentityToken}
		if a.Auth != "" {
			user, password, err := decodeAuth(a.Auth)
			if err != nil {
				return nil, fmt.Errorf("the member auth of %q %w", registryHost(name), err)
			}
			e.user, e.password = user, password
		}
		c.auths[name] = e
	}
	return c, nil
}

// decodeAuth reads name and password from the member auth.
func decodeAuth(auth string) (user, password string, err error) {
	raw, err := base64.StdEncoding.DecodeString(auth)
	if err != nil {
		return "", "", errors.New("is not base64")
	}
	user, password, ok := strings.Cut(string(raw), ":")
	if !ok || user == "" {
		return "", "", errors.New("is not a name and a password")
	}
	return user, strings.TrimRight(password, "\x00"), nil
}

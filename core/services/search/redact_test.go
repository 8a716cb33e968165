package search

import (
	"context"
	"strings"
	"testing"

	sdk "github.com/patchbay-dev/patchbay/sdk/search"
)

const echoedKey = "upstream-key-echoed-by-the-api"

// TestEchoedKeyStaysHere has the upstream repeat the key in an error, an answer and the headers.
func TestEchoedKeyStaysHere(t *testing.T) {
	for _, status := range []int{200, 400, 500} {
		e := newEnv(t, func(e *env) {
			e.backend.desc.Credential = true
			e.backend.invoke = func(context.Context, *sdk.Request) (*sdk.Reply, error) {
				r := reply(status, `{"detail":"the key `+echoedKey+` and `+echoedKey+`","n":1.0}`)
				r.ContentType, r.RetryAfter = "application/json; x="+echoedKey, echoedKey
				return r, nil
			}
		})
		e.addKeys(echoedKey)
		g := e.post("search", e.token(nil), `{"query":"q"}`)
		if g.status != status || !strings.HasSuffix(g.body, `,"n":1.0}`) {
			t.Errorf("%d: %d %s", status, g.status, g.body)
		}
		if all := g.body + g.header.Get("Content-Type") + g.header.Get("Retry-After"); strings.Contains(all, echoedKey) {
			t.Errorf("%d: the client got the key: %s", status, all)
		}
	}
}

// TestEscapedKeyStaysHere has the upstream repeat the key with the escapes of JSON and of URLs.
func TestEscapedKeyStaysHere(t *testing.T) {
	const key = "tvly-a/b+c"
	for _, spelled := range []string{
		`tvly\u002da\/b\u002Bc`, `tvly-a\/b+c`, `tvly-a%2Fb%2bc`, `\u0074\u0076\u006c\u0079\u002d\u0061\u002f\u0062\u002b\u0063`,
	} {
		e := newEnv(t, func(e *env) {
			e.backend.desc.Credential = true
			e.backend.invoke = func(context.Context, *sdk.Request) (*sdk.Reply, error) {
				return reply(400, `{"a":"\\x","detail":"tt`+spelled+`","n":"100%"}`), nil
			}
		})
		e.addKeys(key)
		if g := e.post("search", e.token(nil), `{"query":"q"}`); g.body != `{"a":"\\x","detail":"tt[redacted]","n":"100%"}` {
			t.Errorf("%s: %s", spelled, g.body)
		}
	}
}

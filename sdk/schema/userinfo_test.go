package schema_test

import (
	"strings"
	"testing"

	"github.com/patchbay-dev/patchbay/sdk/schema"
)

// TestDecodeRefusesUnencodedPasswords decodes what a host sends to a plugin, or "plugin test".
func TestDecodeRefusesUnencodedPasswords(t *testing.T) {
	type config struct {
		Text   string            `patchbay:"text"`
		Secret schema.Secret     `patchbay:"secret"`
		List   []string          `patchbay:"list"`
		Map    map[string]string `patchbay:"map"`
	}
	for _, raw := range []string{`{"text":%}`, `{"secret":%}`, `{"list":["a",%]}`, `{"map":{"a":%}}`} {
		var c config
		ds := schema.Decode([]byte(strings.ReplaceAll(raw, "%", `"smtp://u:geheim/1@h"`)), &c)
		if !ds.HasErrors() || !strings.Contains(ds.Error(), "percent-encode the password") || strings.Contains(ds.Error(), "geheim") {
			t.Errorf("%s: %v", raw, ds)
		}
		if ds := schema.Decode([]byte(strings.ReplaceAll(raw, "%", `"smtp://u:geheim@h"`)), &c); ds.HasErrors() {
			t.Errorf("%s: %v", raw, ds)
		}
	}
}

// TestCheckUserInfo tells passwords that break an address from addresses that only look unusual.
func TestCheckUserInfo(t *testing.T) {
	for _, text := range []string{
		"postgres://u:geheim/x@h/db", "postgres://u:geheim?x@h/db", "postgres://u:geheim#x@h/db", "postgres://u:geheim@x@h/db",
		"postgres://u:geheim%x@h/db", "postgres://u:geheim%@h/db",
		"postgres://u:geheim x@h/db", "postgres://u:geheim^x@h/db", "postgres://u:geheim[x@h/db", "postgres://u:12/34geheim@h/db",
		"postgres://u:geheim/x@h:5432/db", "postgres://u@x:geheim@h/db",
		"smtp://u:geheim/x@h", "smtps://u@example.com:geheim@h:465", " http://u:geheim#x@proxy:3128", "https://u:geheim/x@h/path",
		"amqp+tls://u:geheim<x@h", "POSTGRES://u:geheim\\x@h", "redis://:geheim/x@h",
		"postgres://u:geheim\x00@h", "postgres://u:gehé@h",
	} {
		err := schema.CheckUserInfo(text)
		if err == nil || !strings.Contains(err.Error(), "percent-encode the password") || strings.Contains(err.Error(), "geheim") {
			t.Errorf("%q: %v", text, err)
		}
	}
	for _, text := range []string{
		"", "text", "a@b", "u:p@ss@h", "https://example.com", "https://example.com/@user", "https://example.com:8443/a@b",
		"https://example.com/a:b@c", "http://[::1]:8080/@x", "postgres://u:p%40ss%2Fw@h:5432/db?sslmode=disable",
		"postgres://u@h/db", "postgres://h:5432/db?user=u&password=a@b", "smtp://u%40example.com:p@h:587/?to=a@b&from=c@d",
		"smtp://h:25/?to=a@b", "mattermost://h:8065/@channel/token", "telegram://123:ABC-_@telegram?chats=@x",
		"discord://token@id", "ntfy://u:p@h/topic", "{a}://b:c/d@e", "1a://u:p/q@h", "see https://u:p/q@h",
		"https://{owner}.example.com/{repo}@x", "postgres:///db?host=/run@x",
	} {
		if err := schema.CheckUserInfo(text); err != nil {
			t.Errorf("%q: %v", text, err)
		}
	}
}

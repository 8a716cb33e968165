package app

import (
	"strings"
	"testing"

	"github.com/patchbay-dev/patchbay/core/internal/testing/testkit"
	"github.com/patchbay-dev/patchbay/core/internal/testing/testplugin"
	"github.com/patchbay-dev/patchbay/core/secret"
)

// What the configuration, the database and the core itself know as secret does not get into the log, nor into the lines
// that are kept of what plugins write.
func TestSecretsStayOutOfTheLog(t *testing.T) {
	const fromEnv, fromReload, proxy, password = "env-secret-1", "reload-secret-2", "proxy-secret-of-16", "mail-secret-3"
	r, text := newReloadable(t, map[string]string{"one": testplugin.Well}, `
core {
  proxy_secret = env("PROXY_SECRET", "")
  log_format   = "json"
}
search "one" "main" {
  config { token = env("TOKEN", "") }
}
service "search" {
  backend = search.main
}
`)
	plain := r.env
	token := fromEnv
	r.env = func(name string) (string, bool) {
		if v, ok := map[string]string{"PROXY_SECRET": proxy, "TOKEN": token}[name]; ok {
			return v, true
		}
		return plain(name)
	}
	var log testkit.Buffer
	a, diags, err := Start(t.Context(), Config{Path: r.path, Env: r.env, Version: "test", LogOutput: &log})
	must(t, err)
	must(t, diags.Err())
	t.Cleanup(func() { _ = a.Close() })
	r.App = a
	kept := func() string { return strings.Join(a.catalog.Instance("search.main").Process().Logs(), "\n") }
	logged := func(times int) func() bool {
		return func() bool {
			return strings.Count(kept(), "written: "+secret.Redacted) == times && strings.Count(log.String(), `"token":"`+secret.Redacted) == times
		}
	}

	testkit.Eventually(t, eventuallyWithin, logged(1), "the first secret was not logged")
	token = fromReload
	r.write(text + "\n# changed\n")
	must(t, r.reload())
	testkit.Eventually(t, eventuallyWithin, logged(2), "the second secret was not logged")
	sealed := a.keyring.Seal([]byte("smtps://user:"+password+"@mail.example/"), "t", "r", "c")
	a.log.Warn("sent", "proxy", proxy, "password", password, "sealed", sealed)
	for _, s := range []string{fromEnv, fromReload, proxy, password} {
		if strings.Contains(log.String(), s) || strings.Contains(kept(), s) {
			t.Errorf("%s is in the log or among the kept lines", s)
		}
	}
	if !strings.Contains(log.String(), sealed) {
		t.Errorf("the log misses what is no secret: %s", log.String())
	}
}

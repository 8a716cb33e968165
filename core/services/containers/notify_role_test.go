package containers

import (
	"strings"
	"testing"

	"github.com/patchbay-dev/patchbay/core/internal/testing/fake"
	"github.com/patchbay-dev/patchbay/core/notify/channels"
	"github.com/patchbay-dev/patchbay/core/plugin/client"
	sdk "github.com/patchbay-dev/patchbay/sdk/notify"
)

// TestSecretsStayWithTheirInstance: when the instance that settings were made for is left out, the next one of its role does
// not get its secrets; when it is not declared any more, its successor does.
func TestSecretsStayWithTheirInstance(t *testing.T) {
	e := newEnv(t, withChannels, func(e *env) {
		e.notifiers["notify.second"] = fake.NewNotifier(sdk.Descriptor{Role: sdk.RoleChat})
		e.set.Notify = []string{"notify.bot", "notify.second"}
	})
	on, token, chat := true, plantedToken, "42"
	e.must(e.svc.Channels().Change(t.Context(),
		channels.NotificationChange{Chat: &channels.ChatChange{Enabled: &on, BotToken: &token, ChatID: &chat}}))
	reload := func(declared ...string) {
		t.Helper()
		set := e.svc.settings()
		set.Notify = declared
		e.must(e.svc.Reload(set, Providers{
			Engine: e.engine, Registries: []client.Registry{e.registry},
			Notify: []channels.Channel{{Ref: "notify.second", Notifier: e.notifiers["notify.second"]}},
		}))
	}
	reload("notify.bot", "notify.second")
	got, err := e.svc.Channels().SendTest(t.Context(), "chat", "")
	e.must(err)
	if got["chat"].OK || !strings.Contains(got["chat"].Error, "notify.bot") || len(e.notifiers["notify.second"].Sent()) != 0 {
		t.Errorf("%+v", got)
	}
	reload("notify.second")
	if got, err = e.svc.Channels().SendTest(t.Context(), "chat", ""); err != nil || !got["chat"].OK ||
		e.notifiers["notify.second"].Sent()[0].Target.Secret.Reveal() != token {
		t.Errorf("%+v, %v", got, err)
	}
	reload("notify.bot", "notify.second")
	e.must(e.svc.Channels().Change(t.Context(), channels.NotificationChange{Chat: &channels.ChatChange{Enabled: &on}}))
	if got, err = e.svc.Channels().SendTest(t.Context(), "chat", ""); err != nil || !got["chat"].OK {
		t.Errorf("saved again: %+v, %v", got, err)
	}
}

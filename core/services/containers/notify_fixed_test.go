package containers

import (
	"context"
	"strings"
	"sync"
	"testing"

	"github.com/patchbay-dev/patchbay/core/notify/channels"
	sdk "github.com/patchbay-dev/patchbay/sdk/notify"
)

// TestMaskedPassword: the rest of a mail address can be changed without the password, as long as it goes to the same server.
func TestMaskedPassword(t *testing.T) {
	e := newEnv(t, withChannels)
	ctx := context.Background()
	put := func(text string) error {
		return e.svc.Channels().Change(ctx, channels.NotificationChange{Email: &channels.EmailChange{SMTPURL: &text}})
	}
	stored := func() string {
		to, err := e.svc.Channels().Target(ctx, e.recipient(sdk.RoleEmail))
		e.must(err)
		return to.Secret.Reveal()
	}
	const first, second = "smtp://ops:p%40ss@mail.example:587/?to=a@example.org&from=Ops <o@example.org>",
		"smtp://ops:p%40ss@mail.example:587/?to=b@example.org"
	e.must(put(first))
	for _, same := range []string{"", "******", "••••", strings.Replace(first, "p%40ss", "******", 1)} {
		if e.must(put(same)); stored() != first {
			t.Fatalf("%q: %q", same, stored())
		}
	}
	if e.must(put(strings.Replace(second, "p%40ss", "******", 1))); stored() != second {
		t.Errorf("%q", stored())
	}
	for _, other := range []string{"smtp://ops:******@evil.example:587/?to=a@example.org",
		"smtp://ops:******@mail.example:25/?to=a@example.org",
		"smtps://ops:******@mail.example:587/?to=a@example.org", "smtp://you:******@mail.example:587/?to=a@example.org",
		"smtp://ops@mail.example/?to=******"} {
		if err := put(other); err == nil || !strings.Contains(err.Error(), "password") || stored() != second {
			t.Errorf("%s: %v, %q", other, err, stored())
		}
	}
}

// TestSubscribedTwiceAtOnce has a browser that asks again before the first answer.
func TestSubscribedTwiceAtOnce(t *testing.T) {
	forEach(t, func(t *testing.T, e *env) {
		var all sync.WaitGroup
		for range 6 {
			all.Go(func() {
				if err := e.svc.Channels().Subscribe(context.Background(), browser(1), "a browser"); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		if list, err := e.svc.Channels().Subscribers(context.Background()); err != nil || len(list) != 1 {
			t.Errorf("%+v, %v", list, err)
		}
	}, withChannels)
}

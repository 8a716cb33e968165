package containers

import (
	"errors"
	"strings"
	"testing"

	"github.com/patchbay-dev/patchbay/core/fault"
	sdk "github.com/patchbay-dev/patchbay/sdk/notify"
	"github.com/patchbay-dev/patchbay/sdk/schema"
)

// An endpoint that the channel would not push to is refused when a browser subscribes, and nothing is stored.
func TestSubscribeChecksTheEndpoint(t *testing.T) {
	e := newEnv(t, withChannels)
	e.notifiers["notify.push"].OnValidate(func(to sdk.Target) schema.Diagnostics {
		ds := schema.Errorf(schema.At("vapidPublicKey"), "there is no public key")
		if strings.Contains(string(to.JSON), "10.0.0.1") {
			ds = append(ds, schema.Errorf(schema.At("endpoint"), "address is not on the public internet")...)
		}
		return ds
	})
	inner := browser(1)
	inner.Endpoint = "https://10.0.0.1/push/1"
	err := e.svc.Channels().Subscribe(t.Context(), inner, "")
	var f *fault.Error
	if !errors.As(err, &f) || f.Code != fault.InvalidArgument || !strings.Contains(err.Error(), "public internet") {
		t.Errorf("an inner address: %v", err)
	}
	if subs, err := e.svc.Channels().Subscribers(t.Context()); err != nil || len(subs) != 0 {
		t.Errorf("%d subscriptions are stored, %v", len(subs), err)
	}
	e.must(e.svc.Channels().Subscribe(t.Context(), browser(2), ""))
}

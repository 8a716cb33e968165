package webhook

import (
	"context"
	"fmt"
	"strings"

	"github.com/patchbay-dev/patchbay/core/secret"
	"github.com/patchbay-dev/patchbay/core/services/containers/record"
	"github.com/patchbay-dev/patchbay/sdk/schema"
)

// ChangeHookSettings stores a change of the settings. The first one makes the secret that deliveries are signed with.
func (w *Webhooks) ChangeHookSettings(ctx context.Context, c HookChange) error {
	c.CallbackURL = strings.TrimSpace(c.CallbackURL)
	if c.CallbackURL != "" || c.Enabled {
		if err := checkCallback(c.CallbackURL); err != nil {
			return err
		}
	}
	if c.Enabled && w.cfg.CodeHost() == nil {
		return hookFault(WhyNoHost)
	}
	pat := strings.TrimSpace(c.PAT)
	if pat == Masked || strings.Trim(pat, "•") == "" {
		pat = ""
	}
	if strings.ContainsFunc(pat, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return record.InvalidField("pat", "The access token has characters that no token has.")
	}
	wanted, err := checkSelections(c.Repos)
	if err != nil {
		return err
	}
	added, err := w.resolveNew(ctx, c.Targets, schema.Secret(pat))
	if err != nil {
		return err
	}
	return w.store.change(ctx, "change the webhooks' settings", func(ctx context.Context) error {
		stored, err := w.storedHooks(ctx)
		if err != nil {
			return err
		}
		stored.Enabled, stored.CallbackURL = c.Enabled, c.CallbackURL
		if pat != "" {
			stored.PAT = w.sealHook(pat, "pat")
		}
		if stored.Secret == "" {
			stored.Secret = w.sealHook(secret.RandomString(SecretLength, secret.Alphanumeric), "secret")
		}
		if c.Enabled && stored.PAT == "" {
			return hookFault(WhyNoToken).With("field", "pat")
		}
		if err := w.store.PutSetting(ctx, settingHooks, stored, w.now()); err != nil {
			return fmt.Errorf("store the webhooks' settings: %w", err)
		}
		if err := w.replaceTargets(ctx, c.Targets, added); err != nil {
			return err
		}
		return w.applySelections(ctx, wanted, stored.Enabled)
	})
}

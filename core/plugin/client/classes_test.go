package client_test

import (
	"context"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/internal/testing/testplugin"
	"github.com/patchbay-dev/patchbay/core/plugin/catalog"
	"github.com/patchbay-dev/patchbay/core/plugin/client"
	"github.com/patchbay-dev/patchbay/sdk/codehost"
	"github.com/patchbay-dev/patchbay/sdk/dns"
	"github.com/patchbay-dev/patchbay/sdk/engine"
	"github.com/patchbay-dev/patchbay/sdk/kinds"
	"github.com/patchbay-dev/patchbay/sdk/notify"
	"github.com/patchbay-dev/patchbay/sdk/registry"
	"github.com/patchbay-dev/patchbay/sdk/search"
	"github.com/patchbay-dev/patchbay/sdk/translator"
)

// failing is how a call to a plugin of a kind is made that fails as a text says.
type failing struct {
	mode string
	call func(ctx context.Context, h *catalog.Handle, text string) error
}

// kindsThatFail has all kinds.
func kindsThatFail() map[string]failing {
	return map[string]failing{
		codehost.Kind: {testplugin.Upstream, func(ctx context.Context, h *catalog.Handle, text string) error {
			_, err := client.NewCodeHost(h, nil).Hooks(ctx, "t", "a/"+text)
			return err
		}},
		dns.Kind: {testplugin.Upstream, func(ctx context.Context, h *catalog.Handle, text string) error {
			return client.NewDNS(h, nil).SetCatchAll(ctx, "zone"+text)
		}},
		engine.Kind: {testplugin.ContainerEngine, func(ctx context.Context, h *catalog.Handle, text string) error {
			_, err := client.NewEngine(h, nil).Inspect(ctx, text)
			return err
		}},
		notify.Kind: {testplugin.Channel, func(ctx context.Context, h *catalog.Handle, text string) error {
			_, err := client.NewNotifier(h, nil).Send(ctx, alert(), testplugin.SendBy(text))
			return err
		}},
		registry.Kind: {testplugin.Upstream, func(ctx context.Context, h *catalog.Handle, text string) error {
			_, err := client.NewRegistry(h, nil).Resolve(ctx, registry.ResolveRequest{Ref: "one.example/" + text})
			return err
		}},
		search.Kind: {testplugin.Well, func(ctx context.Context, h *catalog.Handle, text string) error {
			_, err := client.NewSearch(h, nil).Invoke(ctx, &search.Request{Operation: testplugin.OpEcho, Body: []byte(`"` + text + `"`)})
			return err
		}},
		translator.Kind: {testplugin.Upstream, func(ctx context.Context, h *catalog.Handle, text string) error {
			_, err := client.NewTranslator(h, nil).Translate(ctx, translator.Request{Task: translator.Translate, TargetLanguage: "zh-CN",
				Parts: []translator.Part{{Name: "a", Text: text}}})
			return err
		}},
	}
}

// TestEveryKindTellsEveryClass: whatever the kind, a failure is told in the words of its class, with the name of the instance and without
// the words of the upstream.
func TestEveryKindTellsEveryClass(t *testing.T) {
	all := kindsThatFail()
	if diff := cmp.Diff(slices.Sorted(slices.Values(kinds.Names())), slices.Sorted(maps.Keys(all))); diff != "" {
		t.Fatalf("kinds without a call here: %s", diff)
	}
	for kind, f := range all {
		t.Run(kind, func(t *testing.T) {
			handles, _ := startInstances(t, catalog.Desired{Kind: kind, Name: "up", Spec: testplugin.Spec(f.mode), Timeout: time.Minute})
			for _, class := range fault.UpstreamClasses {
				err := f.call(t.Context(), handles[0], testplugin.FailAs+class.Name)
				words := strings.Split(strings.Replace(class.Message, "%s", kind+".up", 1), "%s")
				got := fault.As(err)
				if got == nil || got.Code != fault.UpstreamUnavailable || strings.Contains(got.Message, "10.0.0.7") ||
					!strings.HasPrefix(got.Message, words[0]) || !strings.HasSuffix(got.Message, words[len(words)-1]) {
					t.Errorf("%s: %v, want %q", class.Name, err, words)
				}
			}
		})
	}
}

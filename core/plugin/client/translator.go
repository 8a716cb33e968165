package client

import (
	"context"
	"time"

	"github.com/patchbay-dev/patchbay/core/plugin/catalog"
	"github.com/patchbay-dev/patchbay/sdk/translator"
)

// Translator has language models translate and summarise for services. Errors are faults, and translator.OutcomeOf returns what
// they mean; the *errs.Error of the plugin is in the chain, and catalog.ErrRetired if a reload took the instance away. Failed
// calls are not repeated here; the plugin may try several models.
type Translator interface {
	translator.Translator
}

// TranslateTimeout bounds a call of Translate at an instance that sets no timeout: models write slowly, and several may be tried.
const TranslateTimeout = 5 * time.Minute

type translatorFacade struct {
	handle  *catalog.Handle
	observe Observer
}

// NewTranslator makes the facade for a handle. observe may be nil. It is called for each call with the name of the method in
// lower case.
func NewTranslator(h *catalog.Handle, observe Observer) Translator {
	if observe == nil {
		observe = ignoreObservation
	}
	return &translatorFacade{handle: h, observe: observe}
}

// ListModels implements Translator.
func (f *translatorFacade) ListModels(ctx context.Context) (out []translator.Model, err error) {
	err = callUnary(ctx, f.handle, f.observe, "listmodels", translator.NewClient, func(ctx context.Context, c *translator.Client) (err error) {
		out, err = c.ListModels(ctx)
		return err
	})
	return out, err
}

// Translate implements Translator.
func (f *translatorFacade) Translate(ctx context.Context, req translator.Request) (out *translator.Answer, err error) {
	err = callUnaryWithin(ctx, f.handle, f.observe, "translate", TranslateTimeout, translator.NewClient,
		func(ctx context.Context, c *translator.Client) (err error) {
			out, err = c.Translate(ctx, req)
			return err
		})
	return out, err
}

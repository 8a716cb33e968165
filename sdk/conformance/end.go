package conformance

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/patchbay-dev/patchbay/sdk/conformance/internal/suite"
	"github.com/patchbay-dev/patchbay/sdk/errs"
	"github.com/patchbay-dev/patchbay/sdk/schema"
	"github.com/patchbay-dev/patchbay/sdk/search"
)

func (r *searchRun) checkCancel(ctx context.Context, c *caller) error {
	return r.cutShort(ctx, c, func(ctx context.Context) (context.Context, context.CancelFunc) {
		ctx, cancel := context.WithCancel(ctx)
		time.AfterFunc(suite.EndAfter, cancel)
		return ctx, cancel
	})
}

func (r *searchRun) checkDeadline(ctx context.Context, c *caller) error {
	return r.cutShort(ctx, c, func(ctx context.Context) (context.Context, context.CancelFunc) {
		return context.WithTimeout(ctx, suite.EndAfter)
	})
}

// cutShort ends a call early. That the plugin's side has ended too is seen by removing the instance, which waits for calls.
func (r *searchRun) cutShort(ctx context.Context, c *caller, bound func(context.Context) (context.Context, context.CancelFunc)) error {
	s, err := r.mustFirst()
	if r.cfg.Slow != nil {
		s, err = *r.cfg.Slow, nil
	}
	if err != nil {
		return err
	}
	const id = "cut-short"
	if err := r.MakeInstance(ctx, id); err != nil {
		return err
	}
	short, cancel := bound(ctx)
	defer cancel()
	began := time.Now()
	_, err = c.invokeSample(short, id, s)
	if errors.Is(err, suite.ErrPanic) {
		return err
	}
	if took := time.Since(began); took > r.Settings.Prompt {
		return fmt.Errorf("the call went on for %s after its end", took.Round(time.Millisecond))
	}
	if err == nil && r.cfg.Slow != nil {
		return errors.New("the slow call was answered; SearchConfig.Slow is not slow")
	}
	return errors.Join(r.RemoveAfterCut(ctx, id), r.requireAlive(ctx, c))
}

func (r *searchRun) wrongCredential(ctx context.Context, c *caller) error {
	s, err := r.mustFirst()
	if err != nil {
		return err
	}
	if !r.desc.Credential {
		return suite.Skip("the plugin needs no credential")
	}
	resp, err := c.invokeWith(ctx, c.newClient(r.MainID), s, schema.Secret("wrong-"+r.cfg.Credential))
	if err != nil {
		if errs.From(err).Source == errs.Plugin {
			return err
		}
		return nil
	}
	if resp.Status < 400 || resp.Status >= 500 || resp.Key.State != search.KeyInvalid {
		return fmt.Errorf("a wrong key should give a 4xx with the verdict that it is invalid; got status %d, verdict %d", resp.Status,
			resp.Key.State)
	}
	return nil
}

package conformance

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"image/png"
	"slices"
	"strings"
	"time"

	"github.com/patchbay-dev/patchbay/sdk/conformance/internal/suite"
	"github.com/patchbay-dev/patchbay/sdk/errs"
	"github.com/patchbay-dev/patchbay/sdk/notify"
)

// newSample is a notification with all parts.
func (r *notifyRun) newSample(id string) *notify.Notification {
	var card bytes.Buffer
	_ = png.Encode(&card, image.NewGray(image.Rect(0, 0, 4, 4)))
	text := func(s string) notify.Text {
		return notify.Text{Plain: s, Markdown: "**" + s + "**", HTML: "<b>" + s + "</b>"}
	}
	return &notify.Notification{
		ID: "conformance-" + id, Kind: "conformance.sample", Version: 1, SentAt: time.Now(), Severity: notify.Warning,
		Title: text("Conformance: ü & <b>"), Summary: text("A sample."), Detail: text("It has\nmore lines."),
		Links:   []notify.Link{{Label: "Example", URL: "https://example.com/?a=1&b=2"}},
		Payload: []byte(`{"sample":true,"text":"ü"}`), Image: card.Bytes(),
	}
}

func (r *notifyRun) sendAll(ctx context.Context) error {
	least := &notify.Notification{ID: "conformance-least", Kind: "conformance.sample", Version: 1, Title: notify.Text{Plain: "Conformance"}}
	for _, n := range []*notify.Notification{r.newSample("send"), least} {
		receipt, err := r.sendNotification(ctx, r.MainID, n, r.cfg.Target)
		if err != nil {
			return fmt.Errorf("%s: %w", n.ID, err)
		}
		if err := r.checkReceipt(receipt); err != nil {
			return fmt.Errorf("%s: %w", n.ID, err)
		}
		if r.cfg.Received != nil && !slices.Contains(r.cfg.Received(), n.ID) {
			return fmt.Errorf("%s is reported as delivered and did not arrive", n.ID)
		}
	}
	return nil
}

func (r *notifyRun) checkReceipt(got *notify.Receipt) error {
	if len(got.Delivered) == 0 {
		return errors.New("the receipt names no delivered part")
	}
	if slices.Contains(got.Delivered, notify.PartImage) && !r.HasCapability(notify.CapImage) {
		return fmt.Errorf("the image is delivered, and the capability %s is missing", notify.CapImage)
	}
	seen := map[notify.Part]bool{}
	for _, p := range got.Delivered {
		if seen[p] || p < notify.PartTitle {
			return fmt.Errorf("the delivered part %d stands twice or means nothing", p)
		}
		seen[p] = true
	}
	return nil
}

// checkRepetition sends one notification twice, as the host does after a failure: the channel hands the id through and does
// not drop the second one by itself.
func (r *notifyRun) checkRepetition(ctx context.Context) error {
	n := r.newSample("repetition")
	for i := range 2 {
		if _, err := r.sendNotification(ctx, r.MainID, n, r.cfg.Target); err != nil {
			return fmt.Errorf("send %d of the same notification: %w", i+1, err)
		}
	}
	if r.cfg.Received == nil {
		return nil
	}
	got := 0
	for _, id := range r.cfg.Received() {
		if id == n.ID {
			got++
		}
	}
	if got != 2 {
		return fmt.Errorf("a notification that was sent twice arrived %d times under its id", got)
	}
	return nil
}

// checkRefusal sends what must be refused as the caller's fault, and looks whether the instance lives on.
func (r *notifyRun) checkRefusal(ctx context.Context, n *notify.Notification, to notify.Target) error {
	_, err := r.sendNotification(ctx, r.MainID, n, to)
	if errors.Is(err, suite.ErrPanic) {
		return err
	}
	if err == nil || errs.From(err).Source != errs.Caller || notify.OutcomeOf(err) != notify.Refused {
		return fmt.Errorf("should be refused as the caller's fault; got: %v", err)
	}
	if !r.instanceAnswers(ctx, r.MainID) {
		return errors.New("the instance is gone after a refusal")
	}
	return nil
}

func (r *notifyRun) badNotification(ctx context.Context) error {
	for name, change := range map[string]func(*notify.Notification){
		"no id":              func(n *notify.Notification) { n.ID = "" },
		"an id with a break": func(n *notify.Notification) { n.ID = "a\r\nX-Injected: b" },
		"a long id":          func(n *notify.Notification) { n.ID = strings.Repeat("x", notify.MaxID+1) },
		"no title":           func(n *notify.Notification) { n.Title = notify.Text{} },
		"no kind":            func(n *notify.Notification) { n.Kind = "" },
		"a cut payload":      func(n *notify.Notification) { n.Payload = []byte(`{"a":`) },
	} {
		n := r.newSample("bad")
		change(n)
		if err := r.checkRefusal(ctx, n, r.cfg.Target); err != nil {
			return fmt.Errorf("a notification with %s: %w", name, err)
		}
	}
	return nil
}

func (r *notifyRun) largePayload(ctx context.Context) error {
	n := r.newSample("large")
	n.Payload = []byte(`{"padding":"` + strings.Repeat("x", 1<<20) + `"}`)
	n.Detail.Plain = strings.Repeat("many words ", 10000)
	_, err := r.sendNotification(ctx, r.MainID, n, r.cfg.Target)
	switch {
	case errors.Is(err, suite.ErrPanic):
		return err
	case err != nil && errs.From(err).Source == errs.Plugin:
		return fmt.Errorf("a payload of 1 MiB should be sent, left out with a warning, or refused; got: %w", err)
	}
	if !r.instanceAnswers(ctx, r.MainID) {
		return errors.New("the instance is gone after a large payload")
	}
	return nil
}

func (r *notifyRun) checkConcurrency(ctx context.Context) error {
	return suite.RunTogether(8, func(i int) error {
		return suite.ErrorAlone(r.sendNotification(ctx, r.MainID, r.newSample(fmt.Sprintf("concurrent-%d", i)), r.cfg.Target))
	})
}

// sendToCase makes an instance for a case and sends there.
func (r *notifyRun) sendToCase(ctx, call context.Context, id string, c NotifyCase, n *notify.Notification) error {
	block := c.JSON
	if block == "" {
		block = r.Settings.JSON
	}
	ds, err := r.ConfigureInstance(ctx, id, block)
	if err = errors.Join(err, ds.Err()); err != nil {
		return fmt.Errorf("make an instance from %s: %w", block, err)
	}
	_, err = r.sendNotification(call, id, n, c.Target)
	return err
}

// cutShort sends with a context that ends early. That the plugin's side has ended too is seen by removing the instance,
// which waits for calls.
func (r *notifyRun) cutShort(ctx, short context.Context) error {
	c := NotifyCase{Target: r.cfg.Target}
	if r.cfg.Slow != nil {
		c = *r.cfg.Slow
	}
	const id = "cut-short"
	began := time.Now()
	err := r.sendToCase(ctx, short, id, c, r.newSample(id))
	if errors.Is(err, suite.ErrPanic) {
		return err
	}
	if took := time.Since(began); took > r.Settings.Prompt {
		return fmt.Errorf("the call went on for %s after its end", took.Round(time.Millisecond))
	}
	switch {
	case err == nil && r.cfg.Slow != nil:
		return errors.New("the slow send was answered; NotifyConfig.Slow is not slow")
	case r.cfg.Slow != nil && notify.OutcomeOf(err) != notify.Uncertain:
		return fmt.Errorf("the outcome of a send that was cut short is not known; reported is %s: %w", notify.OutcomeOf(err), err)
	}
	if err := r.RemoveInstance(ctx, id); err != nil {
		return fmt.Errorf("the plugin goes on with a call that has ended: removing its instance: %w", err)
	}
	if !r.instanceAnswers(ctx, r.MainID) {
		return errors.New("another instance is gone after a call that was cut short")
	}
	return nil
}

func (r *notifyRun) checkFailures(ctx context.Context) error {
	if len(r.cfg.Failures) == 0 {
		return suite.Skip("there is no failing send")
	}
	for i, c := range r.cfg.Failures {
		id := fmt.Sprintf("failure-%d", i)
		err := r.sendToCase(ctx, ctx, id, c, r.newSample(id))
		if errors.Is(err, suite.ErrPanic) {
			return err
		}
		if got := notify.OutcomeOf(err); got != c.Outcome {
			return fmt.Errorf("failure %d (%s): the outcome is %s, want %s: %v", i, c.JSON, got, c.Outcome, err)
		}
		if err := r.RemoveInstance(ctx, id); err != nil {
			return err
		}
	}
	return nil
}

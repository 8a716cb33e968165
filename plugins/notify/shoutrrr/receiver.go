package shoutrrr

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/nicholas-fedor/shoutrrr/pkg/router"
	"github.com/nicholas-fedor/shoutrrr/pkg/services/chat/matrix"
	"github.com/nicholas-fedor/shoutrrr/pkg/types"

	"github.com/patchbay-dev/patchbay/sdk/schema"
)

// maxPending is how many sends to one address may be under way. The library ends a send by its own time limits only, so
// that some may be left over from calls that have ended.
const maxPending = 32

// receiver is one address.
type receiver struct {
	raw    string
	scheme string
	// titled tells that the service shows a title of its own.
	titled bool
	// limit is the longest text, in bytes.
	limit   int
	pending chan struct{}
}

// showsTitle reports whether people see the title that the library passes to a service.
func showsTitle(scheme string, u *url.URL) bool {
	switch scheme {
	case "bark", "discord", "gotify", "join", "lark", "ntfy", "opsgenie", "pushbullet", "pushover", "slack", "smtp", "teams", "telegram":
		return true
	case "generic":
		return u.Query().Has("template")
	}
	return false
}

// maxMessage is the longest text for a service that is not named in limit.
const maxMessage = 4000

func maxTextLength(scheme string) int {
	switch scheme {
	case "pagerduty", "pushover":
		return 1000
	case "wecom":
		return 2000
	}
	return maxMessage
}

// newReceiver checks an address. The error does not hold it: it has tokens in it.
func newReceiver(raw string) (*receiver, error) {
	if err := schema.CheckUserInfo(raw); err != nil {
		return nil, fmt.Errorf("address %w", err)
	}
	u, err := url.Parse(raw)
	if err != nil {
		return nil, errors.New("address cannot be parsed")
	}
	scheme, _, _ := strings.Cut(strings.ToLower(u.Scheme), "+")
	if scheme == "" || scheme == "logger" {
		return nil, errors.New("address must begin with the name of a service, such as ntfy://")
	}
	if _, err := new(router.ServiceRouter).NewService(scheme); err != nil {
		return nil, fmt.Errorf("there is no service %.20q", scheme)
	}
	if err := checkAddress(raw, scheme, u); err != nil {
		return nil, fmt.Errorf("the address is not one of the service %s", scheme)
	}
	return &receiver{raw: raw, scheme: scheme, titled: showsTitle(scheme, u), limit: maxTextLength(scheme),
		pending: make(chan struct{}, maxPending)}, nil
}

// checkAddress makes the service without sending anything.
func checkAddress(raw, scheme string, u *url.URL) (err error) {
	defer recoverPanic(&err)
	if u.Host == "" && needsHost(scheme) {
		return errors.New("there is no host")
	}
	if scheme == matrix.Scheme {
		// Making this one may log in.
		return new(matrix.Config).SetURL(u)
	}
	_, err = new(router.ServiceRouter).Locate(raw)
	return err
}

// needsHost reports whether the address of a service has a host. The library does not always notice a missing one.
func needsHost(scheme string) bool {
	switch scheme {
	case "bark", "generic", "gotify", "matrix", "mattermost", "ntfy", "rocketchat", "smtp", "zulip":
		return true
	}
	return false
}

var errPanicked = errors.New("the library panicked")

func recoverPanic(err *error) {
	if recover() != nil {
		*err = errPanicked
	}
}

var errBusy = errors.New("earlier sends have not ended")

// sendText delivers one text. A service is made anew each time: some keep what they were given last.
func (r *receiver) sendText(ctx context.Context, title, text string) error {
	select {
	case r.pending <- struct{}{}:
	default:
		return errBusy
	}
	params := types.Params{}
	if r.titled {
		params.SetTitle(title)
	}
	done := make(chan error, 1)
	go func() {
		defer func() { <-r.pending }()
		done <- deliverText(r.raw, text, params)
	}()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// startError is a failure before anything was sent.
type startError struct{ err error }

func (e *startError) Error() string { return "start: " + e.err.Error() }
func (e *startError) Unwrap() error { return e.err }

func deliverText(raw, text string, params types.Params) (err error) {
	defer recoverPanic(&err)
	service, err := openService(raw)
	if err != nil {
		return &startError{err}
	}
	guardClients(service)
	return service.Send(text, &params)
}

// openService makes a service. The library would hide why a login fails.
func openService(raw string) (types.Service, error) {
	u, err := url.Parse(raw)
	if err != nil || !strings.EqualFold(u.Scheme, matrix.Scheme) {
		return new(router.ServiceRouter).Locate(raw)
	}
	service := new(matrix.Service)
	return service, service.Initialize(u, nil)
}

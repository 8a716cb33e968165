package docker

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	cerrdefs "github.com/containerd/errdefs"
	"github.com/distribution/reference"
	"github.com/docker/docker/api/types/image"
	"github.com/docker/docker/api/types/registry"
	"github.com/docker/docker/client"
	"google.golang.org/grpc/codes"

	"github.com/patchbay-dev/patchbay/sdk/engine"
	"github.com/patchbay-dev/patchbay/sdk/errs"
)

// progressEvery is the least time between two reports of a pull.
const progressEvery = 250 * time.Millisecond

// Pull implements engine.Runner.
func (d *docker) Pull(ctx context.Context, req engine.PullRequest, send func(engine.PullProgress) error) (*engine.Image, error) {
	ref, err := reference.ParseNormalizedNamed(req.Ref)
	if err != nil {
		return nil, errs.BadInput(engine.ReasonBadRef, "%q is not an image reference: %v", req.Ref, err)
	}
	login, err := d.loginFor(ctx, req.DockerConfig, reference.Domain(ref))
	if err != nil {
		return nil, err
	}
	opts := image.PullOptions{Platform: req.Platform}
	if login.hasCredentials() {
		if opts.RegistryAuth, err = registry.EncodeAuthConfig(login.AuthConfig); err != nil {
			return nil, errs.New(errs.Plugin, codes.Internal, "INTERNAL", "the credentials cannot be encoded")
		}
	}
	err = d.callEngine(ctx, "pull "+req.Ref, func(api *client.Client) error {
		stream, err := api.ImagePull(ctx, req.Ref, opts)
		if err == nil {
			defer stream.Close()
			err = d.watchPull(stream, send)
		}
		return login.describeRefusal(ctx, req.Ref, err)
	})
	if err != nil {
		return nil, err
	}
	return d.findImage(ctx, req.Ref)
}

// watchPull sends what a pull reports, until it ends.
func (d *docker) watchPull(stream io.Reader, send func(engine.PullProgress) error) error {
	p := newProgress()
	var sent time.Time
	for dec := json.NewDecoder(stream); ; {
		var line pullLine
		switch err := dec.Decode(&line); {
		case errors.Is(err, io.EOF):
			return wrapSenderError(send(p.takeSnapshot()))
		case err != nil:
			return err
		case line.failureText() != "":
			return pullError(line.failureText())
		}
		p.addLine(&line)
		if now := d.now(); now.Sub(sent) >= progressEvery {
			sent = now
			if err := send(p.takeSnapshot()); err != nil {
				return wrapSenderError(err)
			}
		}
	}
}

// pullError is what the engine wrote into a pull's stream: the pull has failed.
type pullError string

func (p pullError) Error() string { return string(p) }

// senderError is an error of the receiver of reports: it is not the engine's.
type senderError struct{ error }

func (s senderError) Unwrap() error { return s.error }

func wrapSenderError(err error) error {
	if err == nil {
		return nil
	}
	return senderError{err}
}

// login is what the engine shows to a registry.
type login struct{ registry.AuthConfig }

func (d *docker) loginFor(ctx context.Context, path, host string) (login, error) {
	c, err := d.readAuth(path)
	if err != nil {
		return login{}, err
	}
	user, password, token, err := c.Get(ctx, host)
	if err != nil {
		return login{}, errs.New(errs.Upstream, codes.Unauthenticated, reasonAuth, "read the credentials for %s: %v", host, err)
	}
	return login{registry.AuthConfig{Username: user, Password: password, IdentityToken: token, ServerAddress: host}}, nil
}

func (l login) hasCredentials() bool {
	return l.Username != "" || l.Password != "" || l.IdentityToken != ""
}

// redactText takes the credentials out of a text.
func (l login) redactText(s string) string {
	for _, secret := range []string{l.Password, l.IdentityToken} {
		if len(secret) > 3 {
			s = strings.ReplaceAll(s, secret, "[redacted]")
		}
	}
	return s
}

// describeRefusal returns what a registry said, which the engine passes on as a text, as an error.
func (l login) describeRefusal(ctx context.Context, ref string, err error) error {
	var sender senderError
	var fromStream pullError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &sender):
		return fmt.Errorf("report a pull: %w", sender.error)
	case ctx.Err() != nil:
		return ctx.Err()
	case isConnectionError(err) && !errors.As(err, &fromStream):
		return err
	}
	said := l.redactText(engineMessage(err))
	say := func(code codes.Code, reason string) error {
		return errs.New(errs.Upstream, code, reason, "pull %s: %s", ref, said)
	}
	has := func(words ...string) bool {
		for _, w := range words {
			if strings.Contains(strings.ToLower(said), w) {
				return true
			}
		}
		return false
	}
	switch {
	case has("toomanyrequests", "too many requests", "rate limit", "status: 429", "http 429"):
		return say(codes.ResourceExhausted, reasonLimited)
	case has("unauthorized", "no basic auth credentials", "authentication required", "status: 401", "http 401"):
		return say(codes.Unauthenticated, reasonAuth)
	case has("denied", "status: 403", "http 403") && l.hasCredentials():
		return say(codes.PermissionDenied, reasonDenied)
	case has("denied", "status: 403", "http 403"):
		return say(codes.Unauthenticated, reasonAuth)
	case has("no space left on device"):
		return say(codes.FailedPrecondition, reasonNoSpace)
	case has("manifest unknown", "not found", "name unknown", "no matching manifest"), cerrdefs.IsNotFound(err):
		return say(codes.NotFound, reasonNotFound)
	case cerrdefs.IsInvalidArgument(err):
		return errs.BadInput(engine.ReasonBadRef, "pull %s: %s", ref, said)
	}
	return say(codes.Unavailable, errs.ReasonStatus)
}

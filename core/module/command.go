package module

import (
	"context"
	"io"

	"github.com/patchbay-dev/patchbay/core/auth"
	"github.com/patchbay-dev/patchbay/core/secret"
	"github.com/patchbay-dev/patchbay/core/store"
)

// CommandLine is what the commands of a service work with.
type CommandLine struct {
	In       io.Reader
	Out, Err io.Writer
	// WithRecords calls use with the database of the configuration that the flags name.
	WithRecords func(ctx context.Context, use func(*Records) error) error
}

// Records is the database, open beside a core that may be running.
type Records struct {
	Store   *store.Store
	Keyring *secret.Keyring
	Users   *auth.Users
}

package mailbox

import (
	"errors"
	"net/http"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/services/mail/domain"
)

// The codes of faults of this package, besides the common ones.
const (
	CodeExists  fault.Code = "mailbox_exists"
	CodeUnknown fault.Code = "recipient_unknown"
	CodeExpired fault.Code = "mailbox_expired"
)

// errNoMailbox is for an id or an address without a mailbox.
var errNoMailbox = fault.New(fault.NotFound, "There is no such mailbox.")

// explainError returns an error as a caller is told of it who wants to change a mailbox of a domain: what has become of the DNS provider
// is for administrators.
func explainError(caller Caller, mailDomain string, err error) error {
	if caller.Admin || !errors.Is(err, domain.ErrOtherProvider) {
		return err
	}
	return fault.Wrap(err, fault.Conflict, "The mail domain %s is being changed; ask an administrator.", mailDomain)
}

// errUnknownRecipient is for mail to an address that has no mailbox and gets none.
func errUnknownRecipient() error {
	return fault.New(CodeUnknown, "There is no mailbox with this address.").WithStatus(http.StatusNotFound)
}

// errExpiredRecipient is for mail to a mailbox whose time is over.
func errExpiredRecipient() error {
	return fault.New(CodeExpired, "The mailbox with this address has expired.").WithStatus(http.StatusNotFound)
}

// errAddressHeld is for mail to an address that can have a mailbox in a moment, and not now.
func errAddressHeld() error {
	return fault.New(fault.NotReady, "The mailbox with this address is being destroyed; try again later.")
}

// errExists is for an address that is taken. The root of the service adds the mailbox, if the caller may see it.
func errExists() *fault.Error {
	return fault.New(CodeExists, "A mailbox with this address already exists.").WithStatus(http.StatusConflict).With("field", "address")
}

// ExistsError is the fault of an address that is taken by a mailbox that the caller may see.
type ExistsError struct {
	Mailbox Mailbox
	fault   *fault.Error
}

// Error implements error.
func (e *ExistsError) Error() string { return e.fault.Error() }

// Unwrap returns the fault.
func (e *ExistsError) Unwrap() error { return e.fault }

// errTaken returns the error of an address that a mailbox has already.
func errTaken(caller Caller, box Mailbox) error {
	if caller.sees(box) {
		return &ExistsError{box, errExists()}
	}
	return errExists()
}

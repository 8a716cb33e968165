package codehost

import (
	"google.golang.org/grpc/codes"

	"github.com/patchbay-dev/patchbay/sdk/errs"
)

// InvalidSignature is the error of ParseWebhook for a signature that does not belong to the body and the secret.
func InvalidSignature(format string, args ...any) *errs.Error {
	return errs.New(errs.Caller, codes.Unauthenticated, ReasonInvalidSignature, format, args...)
}

// InvalidPayload is the error of ParseWebhook for a signed body that cannot be read.
func InvalidPayload(format string, args ...any) *errs.Error {
	return errs.BadInput(ReasonInvalidPayload, format, args...)
}

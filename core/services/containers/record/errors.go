package record

import "github.com/patchbay-dev/patchbay/core/fault"

// InvalidField returns the error for a field of a request that is not valid.
func InvalidField(field, format string, args ...any) *fault.Error {
	return fault.New(fault.InvalidArgument, format, args...).With("field", field)
}

// ArchivedError tells that a stack or service is archived.
func ArchivedError(name string) error {
	return fault.New(fault.Conflict, "%s is archived: restore it first.", name).With("reason", "archived")
}

// ProtectedError returns the error for an action that would stop this instance itself.
func ProtectedError(name string) *fault.Error {
	return fault.New(fault.Conflict, "%s is this instance itself: use the supervisor.", name).With("reason", "managed_via_supervisor")
}

package console

import (
	"context"
	"time"
)

// Choice is a plugin of one kind that an instance can be made of.
type Choice struct {
	Kind, Plugin, Version, Summary string
	// Origin is built-in, or the path of the binary.
	Origin   string
	Settings []Setting
}

// Reference is an attribute of a service that names instances of a kind.
type Reference struct {
	Service, Attribute, Kind, Doc string
	// IsList reports whether it may name several.
	IsList, Required bool
	// Refs are the instances that it names, in their order.
	Refs []string
}

// The sources of a value in a Proposal.
const (
	// FromForm takes Text, "" for none.
	FromForm = "form"
	// Keep leaves what stands in the file.
	Keep = "keep"
	// FromEnvironment names an environment variable in Text.
	FromEnvironment = "env"
	// FromFile has Text written into a file that the core alone can read.
	FromFile = "file"
)

// Value is a setting in a form.
type Value struct {
	// Name is that of the Setting.
	Name, Source, Text string
}

// Proposal is a change of plugin.hcl that a form asks for. Exactly one of Add, Set and Remove is set, or none where Uses has the whole
// change.
type Proposal struct {
	// Add is a plugin, kind/name, of which an instance called Name is added.
	Add, Name string
	// Set is the instance whose settings change, such as search.docs; Remove the one that is taken out.
	Set, Remove string
	Values      []Value
	// Uses say which instances attributes of services name.
	Uses []Reference
	// Draft is the id of a Change whose secrets are taken where a value from a file has no text.
	Draft string
}

// Finding is something wrong with a proposal, or a warning.
type Finding struct {
	// Field is the setting that it is about, "name" for the name of the instance, or "" for the whole.
	Field string
	// TextID is the id of its text. Text is the text itself where there is none, in English: what plugins say.
	TextID, Text string
	Warning      bool
}

// The states of a Change.
const (
	// ChangeRejected: the check found errors.
	ChangeRejected = "rejected"
	// ChangeChecked: it can be applied.
	ChangeChecked = "checked"
	// ChangeApplied: it is in use.
	ChangeApplied = "applied"
	// ChangeReverted: it was refused when it was put into use; the former configuration is in use and in the file.
	ChangeReverted = "reverted"
	// ChangeOutdated: somebody else has changed the file since the check; nothing was written.
	ChangeOutdated = "outdated"
	// ChangeFailed: it could not be written, or not be taken back; Reason says which.
	ChangeFailed = "failed"
)

// Change is a proposal that was checked.
type Change struct {
	ID       string
	Proposal Proposal
	// About tells in a few words what changes.
	About string
	State string
	// Findings are what the check found; Difference is what changes in the file, without secrets.
	Findings   []Finding
	Difference string
	// Pending reports that the file holds other changes, by hand, that are not in use yet.
	Pending bool
	// Reason tells why it was reverted or failed, in English; Backup is the file with the former text.
	Reason, Backup string
	At             time.Time
}

// Errors reports whether the check found more than warnings.
func (c Change) Errors() bool { return c.State == ChangeRejected }

// Writing reports whether and how plugin.hcl can be changed.
type Writing struct {
	// Path is the file.
	Path string
	// ReadOnly is why the console cannot write it: off, replicas, json, file, folder or mount; "" if it can.
	ReadOnly string
}

// Current is a setting as it stands in plugin.hcl: a value as a form has it, or an expression such as env("NAME").
type Current struct{ Text, Expression string }

// Configurator changes plugin.hcl. Errors are faults.
type Configurator interface {
	// Writing reports whether the file can be changed.
	Writing() Writing
	// Choices are the plugins that instances can be made of.
	Choices(ctx context.Context) ([]Choice, error)
	// References are what services name, in the order of the services.
	References() []Reference
	// Settings returns the settings of an instance as they stand in the file, by name, and its plugin.
	Settings(ctx context.Context, ref string) (Choice, map[string]Current, error)
	// Propose checks a proposal of a user as "patchbay config check" does, and keeps it for a while.
	Propose(ctx context.Context, user string, p Proposal) (Change, error)
	// Change returns a proposal that was checked for a user.
	Change(user, id string) (Change, error)
	// Apply writes what a user has had checked and puts it into use. What came of it is in the Change.
	Apply(ctx context.Context, user, id string) (Change, error)
}

// Package codehost is what the author of a code host plugin implements, and what a caller of one uses.
//
// A code host plugin translates between one vendor's API and the verbs below. It keeps nothing and never retries.
package codehost

import (
	"context"
	"time"

	"github.com/patchbay-dev/patchbay/sdk/framework"
	"github.com/patchbay-dev/patchbay/sdk/schema"
)

// Instance is what the host tells about a configured instance.
type Instance = framework.Instance

// Kind is the word for this kind in plugin.hcl; Service is its gRPC service.
const (
	Kind    = "codehost"
	Service = "patchbay.codehost.v1.CodeHost"
)

// Reasons that tell errors of ParseWebhook apart.
const (
	// ReasonInvalidSignature comes with UNAUTHENTICATED: the signature does not belong to the body and the secret.
	ReasonInvalidSignature = "INVALID_SIGNATURE"
	// ReasonInvalidPayload comes with INVALID_ARGUMENT: the signature is good and the body cannot be read.
	ReasonInvalidPayload = "INVALID_PAYLOAD"
)

// CodeHost speaks to a code host. Calls come concurrently. Errors are made with package errs: a token that is missing,
// wrong or lacks a scope is UNAUTHENTICATED or PERMISSION_DENIED, what does not exist NOT_FOUND, a limit that is used up
// RESOURCE_EXHAUSTED with RetryInfo, a host that is down or slow UNAVAILABLE. All of these carry the source upstream and
// the HTTP status that came. What a code host can do besides is declared as capabilities.
type CodeHost interface {
	// Resolve turns what a person typed (owner/repo, the address of a repository or of an owner, an owner's name) into
	// repositories. Input that names neither is INVALID_ARGUMENT.
	Resolve(ctx context.Context, token schema.Secret, input string) (*Resolution, error)
}

// What an input was resolved as.
const (
	KindRepo  = "repo"
	KindOwner = "owner"
)

// Resolution is what an input stands for.
type Resolution struct {
	// Kind is KindRepo or KindOwner.
	Kind  string
	Owner string
	Repos []Repo
	// Warnings are for the operator, such as that not all repositories were listed.
	Warnings []string
}

// Repo is a repository.
type Repo struct {
	// FullName is owner/name.
	FullName string
	// Visibility is public, private or internal; empty if the host does not say.
	Visibility string
	// LastActivity is zero if the host does not say.
	LastActivity time.Time
}

// Hook is a webhook as the host has it. Its secret is never read back.
type Hook struct {
	ID, URL     string
	Events      []string
	Active      bool
	ContentType string
}

// HookSpec is a webhook to be.
type HookSpec struct {
	URL    string
	Secret schema.Secret
	// Events are in the words of the host; EventPackage stands for its event of a published package.
	Events []string
	Active bool
}

// EventPackage is the event that says that a package was published.
const EventPackage = "package"

// Delivery is a webhook request as it came.
type Delivery struct {
	// Event and Signature are the values of the host's headers for them.
	Event, Signature string
	// Body is the raw body.
	Body []byte
	// Secret is what the body was signed with.
	Secret schema.Secret
}

// Webhook is what a delivery says. Members that the payload lacks are empty.
type Webhook struct {
	// Event is the kind of the event, such as EventPackage; Action what happened, such as "published".
	Event, Action string
	// Owner is the account; FullName is owner/name of the repository.
	Owner, FullName string
	// Package, PackageType (such as "container"), Tags and Digest name what was published.
	Package, PackageType string
	Tags                 []string
	Digest               string
}

// Definition declares a code host plugin whose config block is a C.
type Definition[C any] struct {
	// Build checks a configuration and returns what makes the code host. It is pure: no network, no files written. Both
	// Validate and Configure call it.
	Build func(inst Instance, cfg C) (Open, schema.Diagnostics)
	// Capabilities are those of every instance. Nil stands for CapWebhooks alone.
	Capabilities []string
}

// Open makes a code host ready for calls. One that is an io.Closer is closed when its instance is removed.
type Open func(ctx context.Context) (CodeHost, error)

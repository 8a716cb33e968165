package mailbox

import (
	"context"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/text/unicode/norm"

	"github.com/patchbay-dev/patchbay/core/fault"
)

// maxTags is how many tags a mailbox may have.
const maxTags = 16

// TagPattern is the rule of a tag, as the API shows it.
const TagPattern = `^[a-z0-9][a-z0-9._:/-]{0,31}$`

var tagRule = regexp.MustCompile(TagPattern)

// NormaliseTags returns tags in lower case, each once, in their first order.
func NormaliseTags(tags []string) ([]string, error) {
	out := make([]string, 0, len(tags))
	for _, t := range tags {
		t = strings.ToLower(norm.NFC.String(strings.TrimSpace(t)))
		if !tagRule.MatchString(t) {
			return nil, fault.New(fault.InvalidArgument,
				"A tag must have 1 to 32 of the characters a-z, 0-9, \".\", \"_\", \":\", \"/\" and \"-\", and begin with a letter or digit.").With("field", "tags")
		}
		if !slices.Contains(out, t) {
			out = append(out, t)
		}
	}
	if len(out) > maxTags {
		return nil, fault.New(fault.InvalidArgument, "A mailbox may have at most %d tags.", maxTags).With("field", "tags")
	}
	return out, nil
}

// SetTags replaces the tags of a mailbox that is active or expired.
func (m *Mailboxes) SetTags(ctx context.Context, caller Caller, id string, tags []string) (box Mailbox, err error) {
	if tags, err = NormaliseTags(tags); err != nil {
		return Mailbox{}, err
	}
	err = m.store.Tx(ctx, "tag mailbox", func(ctx context.Context) error {
		if box, err = m.lockMailbox(ctx, id); err != nil {
			return err
		}
		if !caller.sees(box) {
			return errNoMailbox
		}
		if box.Status != Active {
			return fault.New(fault.Conflict, "The mailbox is destroyed or being destroyed.")
		}
		box.Tags = tags
		return m.replaceTags(ctx, id, tags)
	})
	return box, err
}

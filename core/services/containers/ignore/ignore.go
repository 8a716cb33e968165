// Package ignore matches the tags that rules tell to leave alone.
package ignore

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/Masterminds/semver/v3"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/services/containers/image"
	"github.com/patchbay-dev/patchbay/core/services/containers/version"
)

// Kinds of rules.
const (
	// Exact matches the tag that is the value.
	Exact = "exact"
	// Prefix matches tags that begin with the value.
	Prefix = "prefix"
	// Regex matches tags in which the value, a regular expression of Go's syntax, is found.
	Regex = "regex"
	// Semver matches versions in a range such as ">=2 <3" or "^1.4".
	Semver = "semver"
	// Digest matches the image that has the value as its digest, whatever its tag is.
	Digest = "digest"
)

// maxValue is the longest value of a rule, in bytes.
const maxValue = 500

// Rule is what a rule matches: a tag, a version behind it, or a digest.
type Rule struct {
	// Kind is one of the constants.
	Kind string
	// Value is read as Kind says; 1 to 500 bytes.
	Value string
}

// Matcher is a rule that was understood. The zero Matcher matches nothing.
type Matcher struct {
	matchTag     func(tag string) bool
	matchVersion func(v *semver.Version) bool
	digest       string
}

// Compile reads a rule. What is wrong with it is a fault.InvalidArgument with the extension member field =
// "match.kind" or "match.value".
func Compile(r Rule) (Matcher, error) {
	value := strings.TrimSpace(r.Value)
	if value == "" || len(value) > maxValue {
		return Matcher{}, invalidRule("match.value", fmt.Sprintf("The value of a rule must have 1 to %d bytes.", maxValue))
	}
	switch r.Kind {
	case Exact:
		return Matcher{matchTag: func(tag string) bool { return tag == value }}, nil
	case Prefix:
		return Matcher{matchTag: func(tag string) bool { return strings.HasPrefix(tag, value) }}, nil
	case Regex:
		pattern, err := regexp.Compile(r.Value)
		if err != nil {
			return Matcher{}, invalidRule("match.value", "The regular expression is not valid: "+err.Error()+".")
		}
		return Matcher{matchTag: pattern.MatchString}, nil
	case Semver:
		return compileRange(value)
	case Digest:
		if !image.ValidDigest(value) {
			return Matcher{}, invalidRule("match.value", "A digest must be sha256: and 64 hexadecimal digits.")
		}
		return Matcher{digest: value}, nil
	}
	return Matcher{}, invalidRule("match.kind", "The kind of a rule must be exact, prefix, regex, semver or digest.")
}

func compileRange(value string) (Matcher, error) {
	limits, err := semver.NewConstraint(value)
	if err != nil {
		return Matcher{}, invalidRule("match.value", "The version range is not valid.")
	}
	limits.IncludePrerelease = true
	return Matcher{matchVersion: limits.Check}, nil
}

func invalidRule(field, msg string) error {
	return fault.New(fault.InvalidArgument, "%s", msg).With("field", field)
}

// Match reports whether the rule matches a tag, or one of versions: the tags that are known for the same image.
func (m Matcher) Match(tag string, versions ...string) bool {
	return m.matches(tag) || slices.ContainsFunc(versions, m.matches)
}

// MatchDigest reports whether the rule matches the image with a digest.
func (m Matcher) MatchDigest(digest string) bool { return m.digest != "" && m.digest == digest }

func (m Matcher) matches(tag string) bool {
	switch {
	case tag == "":
		return false
	case m.matchTag != nil:
		return m.matchTag(tag)
	case m.matchVersion != nil:
		return m.inRange(tag)
	}
	return false
}

func (m Matcher) inRange(tag string) bool {
	parsed, ok := version.Parse(tag)
	if !ok {
		return false
	}
	text, ok := parsed.Semver()
	if !ok {
		return false
	}
	v, err := semver.StrictNewVersion(text)
	return err == nil && m.matchVersion(v)
}

// Package version reads the versions in image tags and puts them in order. Tags are not semantic versions: they have two
// or four numbers, leading zeros, dates, and suffixes that name a variant. Only tags of one family are compared.
package version

import (
	"regexp"
	"slices"
	"strings"
)

// maxTag is the longest tag that may be a version, in bytes; registries allow no longer ones.
const maxTag = 128

// Version is what a tag says.
type Version struct {
	// Prefix is what stands before the numbers, without a "v": "release-" in "release-1.2".
	Prefix string
	// Parts are the numbers as they are written, with leading zeros.
	Parts []string
	// Pre is the mark of a prerelease, such as "rc.1"; "" in releases.
	Pre string
	// Suffix is the rest with its separator, such as "-alpine3.19".
	Suffix string

	v    bool // a "v" stands before the numbers
	date bool // the numbers are a date with hyphens
}

var (
	// wordPattern matches a word before the numbers, with its separator.
	wordPattern   = regexp.MustCompile(`^(?:[A-Za-z]+[-_.]|[A-Za-z][A-Za-z0-9]*[-_])`)
	vPattern      = regexp.MustCompile(`^[vV]\d`)
	datePattern   = regexp.MustCompile(`^(\d{4})-(\d{2})-(\d{2})(?:T(\d{2})-(\d{2})-(\d{2})Z)?([-_.+].*)?$`)
	numberPattern = regexp.MustCompile(`^(\d+(?:\.\d+)*)(.*)$`)
	prePattern    = regexp.MustCompile(`(?i)^[-_.]?((?:alpha|beta|rc|cr|pre|preview|dev|snapshot|nightly|canary|next|edge|unstable|testing|milestone)(?:[-_.]?\d+)*|[-_.]?(?:a|b|c|m|ea|pr)\d+)([-_.+].*)?$`)
	// suffixPattern matches what may follow the numbers without being a prerelease.
	suffixPattern = regexp.MustCompile(`^(?:u\d+)?(?:[-_.+][A-Za-z0-9].*)?$`)
	// counterPattern matches numbers that grow within one variant: of a base system, and of builds.
	counterPattern = regexp.MustCompile(`(?i)^(alpine|debian|ubuntu|ubi|el|fc|ls|r|rev|build|p|patch|u|)\d+(\.\d+)*$`)
	strictPattern  = regexp.MustCompile(`^v?(?:0|[1-9]\d*)(?:\.(?:0|[1-9]\d*)){2}$`)
	digitsPattern  = regexp.MustCompile(`\d+`)
)

// noVersions are words before a number that is the name of a change or a build.
const noVersions = " sha commit git pr mr pull issue feature feat fix bugfix branch ci run build "

// Parse reads a tag; ok is false for those that name no version, such as "latest" or a commit.
func Parse(tag string) (v Version, ok bool) {
	if len(tag) > maxTag {
		return Version{}, false
	}
	rest := tag
	for word := wordPattern.FindString(rest); word != "" && !vPattern.MatchString(word); word = wordPattern.FindString(rest) {
		rest = rest[len(word):]
	}
	v.Prefix = tag[:len(tag)-len(rest)]
	if !validPrefix(v.Prefix) {
		return Version{}, false
	}
	if v.v = vPattern.MatchString(rest); v.v {
		rest = rest[1:]
	}
	if d := datePattern.FindStringSubmatch(rest); d != nil {
		v.date = true
		v.Parts = slices.DeleteFunc(d[1:7:7], func(s string) bool { return s == "" })
		v.Suffix = d[7]
		return v, true
	}
	n := numberPattern.FindStringSubmatch(rest)
	if n == nil {
		return Version{}, false
	}
	v.Parts = strings.Split(n[1], ".")
	if p := prePattern.FindStringSubmatch(n[2]); p != nil {
		v.Pre, v.Suffix = p[1], p[2]
		return v, true
	}
	v.Suffix = n[2]
	return v, suffixPattern.MatchString(n[2])
}

func validPrefix(prefix string) bool {
	words := strings.FieldsFunc(strings.ToLower(prefix), isSeparator)
	return !slices.ContainsFunc(words, func(w string) bool { return strings.Contains(noVersions, " "+w+" ") })
}

func isSeparator(r rune) bool { return r == '-' || r == '_' || r == '.' || r == '+' }

// Strict reports whether a tag is exactly three numbers of a semantic version, with or without "v".
func Strict(tag string) bool { return len(tag) <= maxTag && strictPattern.MatchString(tag) }

// Semver is the version in the form of semantic versioning, with the first three numbers and the prerelease, for
// comparing it with ranges. ok is false when a number is too large for that.
func (v Version) Semver() (text string, ok bool) {
	parts := []string{"0", "0", "0"}
	for i, p := range v.Parts[:min(3, len(v.Parts))] {
		parts[i] = strings.TrimLeft(p, "0")
		if parts[i] == "" {
			parts[i] = "0"
		}
		if len(parts[i]) > 18 {
			return "", false
		}
	}
	text = strings.Join(parts, ".")
	if v.Pre != "" {
		text += "-" + paddedPrerelease(v.Pre)
	}
	return text, true
}

// paddedPrerelease writes a prerelease so that its numbers are compared as numbers.
func paddedPrerelease(pre string) string {
	pre = digitsPattern.ReplaceAllStringFunc(pre, func(digits string) string {
		if digits = strings.TrimLeft(digits, "0"); digits == "" {
			digits = "0"
		}
		return "." + digits
	})
	words := strings.FieldsFunc(strings.ToLower(pre), isSeparator)
	return strings.Join(words, ".")
}

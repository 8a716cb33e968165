package version

import (
	"cmp"
	"slices"
	"strings"

	"github.com/patchbay-dev/patchbay/core/lists"
)

// Family reports whether one version may follow the other: as many numbers, the same prefix (a "v" aside), the same kind
// of numbering, and the same variant. "1.25-alpine3.19" and "1.26-alpine3.20" are of one family; "1.25" and "1.25.3",
// "1.25-alpine" and "1.25-slim", and "15" and "20240115" are not.
func Family(a, b Version) bool {
	return a.Prefix == b.Prefix && a.date == b.date && len(a.Parts) == len(b.Parts) && isYearBased(a) == isYearBased(b) &&
		normalizeVariant(a.Suffix) == normalizeVariant(b.Suffix)
}

// isYearBased reports whether the numbers begin with a year, a date or a build, and are not those of a release.
func isYearBased(v Version) bool { return len(strings.TrimLeft(v.Parts[0], "0")) >= 4 }

// normalizeVariant returns a suffix without the numbers that grow within the variant.
func normalizeVariant(suffix string) string {
	var out strings.Builder
	for _, word := range strings.FieldsFunc(suffix, func(r rune) bool { return r == '-' || r == '_' || r == '+' }) {
		if m := counterPattern.FindStringSubmatch(word); m != nil {
			word = m[1] + "#"
		}
		out.WriteString("-" + strings.ToLower(word))
	}
	return out.String()
}

// Compare is negative if a is older than b, positive if it is newer. A prerelease is older than its release. The order
// is only meaningful within a family.
func Compare(a, b Version) int {
	for i := range max(len(a.Parts), len(b.Parts)) {
		if c := compareDigits(partAt(a, i), partAt(b, i)); c != 0 {
			return c
		}
	}
	switch {
	case a.Pre == "" && b.Pre != "":
		return 1
	case a.Pre != "" && b.Pre == "":
		return -1
	}
	return cmp.Or(compareText(a.Pre, b.Pre), compareText(a.Suffix, b.Suffix))
}

func partAt(v Version, i int) string {
	if i < len(v.Parts) {
		return v.Parts[i]
	}
	return ""
}

// compareDigits compares numbers of any length.
func compareDigits(a, b string) int {
	a, b = strings.TrimLeft(a, "0"), strings.TrimLeft(b, "0")
	return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b))
}

// compareText compares texts, and the numbers in them as numbers.
func compareText(a, b string) int {
	x, y := splitVersion(a), splitVersion(b)
	for i := range min(len(x), len(y)) {
		c := cmp.Compare(x[i], y[i])
		if isDigit(x[i][0]) && isDigit(y[i][0]) {
			c = compareDigits(x[i], y[i])
		}
		if c != 0 {
			return c
		}
	}
	return cmp.Compare(len(x), len(y))
}

// splitVersion splits a text into its numbers and the words between them.
func splitVersion(s string) (out []string) {
	s = strings.ToLower(s)
	for len(s) > 0 {
		i := 1
		for i < len(s) && isDigit(s[i]) == isDigit(s[0]) {
			i++
		}
		if word := strings.TrimFunc(s[:i], isSeparator); word != "" {
			out = append(out, word)
		}
		s = s[i:]
	}
	return out
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

// tagged is a version with the tag that it was read from.
type tagged struct {
	Version
	tag string
}

// Newer returns the tags that are newer than the current one and of its family, newest first, at most limit (0: all).
// Prereleases are left out unless the current one is a prerelease. Of tags for the same version one is given, if
// possible the one that is written as the current one is. A current tag that is no version has none.
func Newer(current string, tags []string, limit int) []string {
	now, ok := Parse(current)
	if !ok {
		return nil
	}
	var found []tagged
	for _, tag := range tags {
		v, ok := Parse(tag)
		if ok && Family(now, v) && Compare(v, now) > 0 && (v.Pre == "" || now.Pre != "") {
			found = append(found, tagged{v, tag})
		}
	}
	slices.SortFunc(found, func(a, b tagged) int {
		return cmp.Or(Compare(b.Version, a.Version), countDifference(a.v, now.v)-countDifference(b.v, now.v), cmp.Compare(a.tag, b.tag))
	})
	found = slices.CompactFunc(found, func(a, b tagged) bool { return Compare(a.Version, b.Version) == 0 })
	if limit > 0 && len(found) > limit {
		found = found[:limit]
	}
	return lists.ConvertAll(found, func(f tagged) string { return f.tag })
}

func countDifference(a, b bool) int {
	if a != b {
		return 1
	}
	return 0
}

// Resolve finds, among the tags of one digest, the one that says most about its version: the highest strict semantic
// version, else the version with the most numbers and then the longest tag. The raw tag itself is left out; "" if no
// other says anything.
func Resolve(digestTags []string, raw string) string {
	var best tagged
	for _, tag := range digestTags {
		v, ok := Parse(tag)
		if ok && tag != raw && (best.tag == "" || compareSpecificity(tagged{v, tag}, best) > 0) {
			best = tagged{v, tag}
		}
	}
	return best.tag
}

// compareSpecificity is positive if a says more than b.
func compareSpecificity(a, b tagged) int {
	strict := countDifference(Strict(a.tag), false) - countDifference(Strict(b.tag), false)
	if strict != 0 || Strict(a.tag) {
		return cmp.Or(strict, Compare(a.Version, b.Version), cmp.Compare(b.tag, a.tag))
	}
	return cmp.Or(cmp.Compare(len(a.Parts), len(b.Parts)), cmp.Compare(len(a.tag), len(b.tag)), Compare(a.Version, b.Version),
		cmp.Compare(b.tag, a.tag))
}

package repo

import (
	"regexp"
)

// Level is the part of a version that a release raises.
type Level int

// The levels. A release whose tag is not a version has LevelUnknown.
const (
	LevelUnknown Level = iota
	LevelPatch
	LevelMinor
	LevelMajor
)

// version finds the numbers at the end of a tag such as v1.2.3, release-1.2 or pkg@1.2.3-rc.1.
var version = regexp.MustCompile(`(?:^|[^0-9.])(\d+)\.(\d+)(?:\.(\d+))?(?:[-+.][0-9A-Za-z.+-]*)?$`)

// LevelOf returns the level of a tag: x.0.0 is major, x.y.0 minor and x.y.z a patch. A number that is left out is 0.
func LevelOf(tag string) Level {
	m := version.FindStringSubmatch(tag)
	switch {
	case m == nil:
		return LevelUnknown
	case isZero(m[3]) && isZero(m[2]):
		return LevelMajor
	case isZero(m[3]):
		return LevelMinor
	}
	return LevelPatch
}

// isZero reports whether a number is 0 or left out.
func isZero(digits string) bool {
	for _, d := range digits {
		if d != '0' {
			return false
		}
	}
	return true
}

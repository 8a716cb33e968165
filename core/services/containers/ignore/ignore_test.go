package ignore_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/services/containers/ignore"
)

func TestMatch(t *testing.T) {
	for _, tt := range []struct {
		kind, value, tag string
		versions         []string
		want             bool
	}{
		{"exact", " 1.2 ", "1.2", nil, true},
		{"exact", "1.2", "1.2.3", nil, false},
		{"exact", "1.2", "latest", []string{"1.2"}, true},
		{"prefix", "1.", "1.2", nil, true},
		{"prefix", "1.", "v1.2", nil, false},
		{"regex", "^1\\.2[0-9]$", "1.25", nil, true},
		{"regex", "rc", "2.0-rc1", nil, true},
		{"regex", "^rc$", "2.0-rc1", nil, false},
		{"semver", ">=2 <3", "2.1", nil, true},
		{"semver", ">=2 <3", "v2.1.9-alpine3.19", nil, true},
		{"semver", ">=2 <3", "3.0.0", nil, false},
		{"semver", "^1.4", "1.3", nil, false},
		{"semver", "^1.4", "1.4", nil, true},
		{"semver", ">=2025.4", "2025.04.1", nil, true},
		{"semver", ">=2", "2.1.0-rc1", nil, true},
		{"semver", ">=2", "2.0.0-rc1", nil, false},
		{"semver", ">=2", "latest", nil, false},
		{"semver", ">=2", "latest", []string{"stable", "2.0.3"}, true},
		{"semver", ">=2", "1.0", []string{"1.0.4"}, false},
		{"semver", "1.x || 3.x", "3.9", nil, true},
	} {
		m, err := ignore.Compile(ignore.Rule{Kind: tt.kind, Value: tt.value})
		if err != nil {
			t.Errorf("%s %q: %v", tt.kind, tt.value, err)
			continue
		}
		if got := m.Match(tt.tag, tt.versions...); got != tt.want {
			t.Errorf("%s %q of %s %v: %v", tt.kind, tt.value, tt.tag, tt.versions, got)
		}
	}
	if (ignore.Matcher{}).Match("x") || (ignore.Matcher{}).MatchDigest("") {
		t.Error("nothing matches something")
	}
}

func TestMatchDigest(t *testing.T) {
	one, other := "sha256:"+strings.Repeat("a", 64), "sha256:"+strings.Repeat("b", 64)
	m, err := ignore.Compile(ignore.Rule{Kind: ignore.Digest, Value: one})
	if err != nil || !m.MatchDigest(one) || m.MatchDigest(other) || m.Match(one) {
		t.Errorf("a rule of a digest: %v", err)
	}
	if m, _ = ignore.Compile(ignore.Rule{Kind: ignore.Regex, Value: "a"}); m.MatchDigest(one) {
		t.Error("a rule of tags matches a digest")
	}
}

func TestCompileRefuses(t *testing.T) {
	for _, tt := range []struct{ kind, value, field string }{
		{"", "x", "match.kind"}, {"glob", "x", "match.kind"}, {"exact", "", "match.value"}, {"prefix", " ", "match.value"},
		{"regex", "(", "match.value"}, {"regex", strings.Repeat("a", 501), "match.value"}, {"regex", "((a{999}){999}){999}", "match.value"},
		{"regex", "(?=a)", "match.value"}, {"digest", "1.2", "match.value"}, {"semver", "new", "match.value"},
		{"semver", ">= 1 and 2", "match.value"},
	} {
		var told *fault.Error
		_, err := ignore.Compile(ignore.Rule{Kind: tt.kind, Value: tt.value})
		if !errors.As(err, &told) || told.Code != fault.InvalidArgument || told.Ext["field"] != tt.field {
			t.Errorf("%s %q: %v", tt.kind, tt.value, err)
		}
	}
}

func FuzzMatch(f *testing.F) {
	f.Add("semver", ">=1", "1.2", "2")
	f.Add("regex", "a+", "aa", "")
	f.Fuzz(func(t *testing.T, kind, value, tag, other string) {
		if m, err := ignore.Compile(ignore.Rule{Kind: kind, Value: value}); err == nil {
			_ = m.Match(tag, other)
		}
	})
}

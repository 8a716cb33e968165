package version_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/patchbay-dev/patchbay/core/services/containers/version"
)

func TestParse(t *testing.T) {
	for tag, want := range map[string]string{
		"1.25.3": "[1 25 3]", "v1.2": "[1 2]", "15": "[15]", "17.11-alpine": "[17 11] -alpine", "2025.04.0": "[2025 04 0]",
		"1.25.3-alpine3.19": "[1 25 3] -alpine3.19", "3.11.4-slim-bookworm": "[3 11 4] -slim-bookworm", "2.0.0-rc.1": "[2 0 0] rc.1",
		"2.0.0-rc1-alpine": "[2 0 0] rc1 -alpine", "1.0.0rc1": "[1 0 0] rc1", "3.12.0b3-slim": "[3 12 0] b3 -slim",
		"4.0.0-SNAPSHOT": "[4 0 0] SNAPSHOT",
		"2024-01-15":     "[2024 01 15]", "RELEASE.2023-01-02T03-04-05Z": "RELEASE. [2023 01 02 03 04 05]", "version-1.2.3": "version- [1 2 3]",
		"1.2.3-ls45": "[1 2 3] -ls45", "1.2.3.4": "[1 2 3 4]", "8u342-jdk": "[8] u342-jdk", "amd64-2.1.0": "amd64- [2 1 0]",
		"17.0.1_12-jre": "[17 0 1] _12-jre",
		"1.2.3-0":       "[1 2 3] -0", "release-v1.2": "release- [1 2]", "1.0.0+build5": "[1 0 0] +build5",
		"99999999999999999999999999.1": "[99999999999999999999999999 1]",
	} {
		v, ok := version.Parse(tag)
		got := ""
		for _, s := range []string{v.Prefix, fmt.Sprint(v.Parts), v.Pre, v.Suffix} {
			if s != "" {
				got += " " + s
			}
		}
		if !ok || got[1:] != want {
			t.Errorf("%s: %q %v, want %q", tag, got, ok, want)
		}
	}
	for _, tag := range []string{"", "latest", "stable-alpine", "sha-1234567", "7e3a1b2", "pr-12", "feature-1.2", "v", "-1", "1.2.3é",
		"alpine", "1..2x", "build-55", string(make([]byte, 200))} {
		if v, ok := version.Parse(tag); ok {
			t.Errorf("%q was read as %+v", tag, v)
		}
	}
}

func TestNewer(t *testing.T) {
	tests := []struct {
		name, current string
		tags          []string
		limit         int
		want          []string
	}{
		{"plain", "1.25.3", []string{"1.25.3", "1.25.10", "1.26.0", "1.24.9", "1.26", "2", "latest"}, 0, []string{"1.26.0", "1.25.10"}},
		{"limit", "1", []string{"2", "3", "4"}, 2, []string{"4", "3"}},
		{"variant", "17.11-alpine", []string{"17.12", "17.12-alpine", "17.12-alpine3.20", "18.0-bookworm", "18.1-alpine"}, 0,
			[]string{"18.1-alpine", "17.12-alpine"}},
		{"base system", "1.25-alpine3.19", []string{"1.25-alpine3.20", "1.26-alpine3.9", "1.26-alpine", "1.25-alpine3.18"}, 0,
			[]string{"1.26-alpine3.9", "1.25-alpine3.20"}},
		{"leading zeros", "2025.04.0", []string{"2025.4.1", "2025.10.0", "2025.03.9", "3.0.0"}, 0, []string{"2025.10.0", "2025.4.1"}},
		{"dates are no releases", "15", []string{"16", "20240115"}, 0, []string{"16"}},
		{"dates", "2024-01-15", []string{"2024-02-01", "2023-12-31", "2025.1.1"}, 0, []string{"2024-02-01"}},
		{"no prereleases", "1.0.0", []string{"2.0.0-rc1", "2.0.0-beta", "1.1.0-dev", "1.0.1"}, 0, []string{"1.0.1"}},
		{"from a prerelease", "2.0.0-rc.2", []string{"2.0.0-rc.10", "2.0.0", "2.0.0-rc.1", "2.0.0-beta.9"}, 0, []string{"2.0.0", "2.0.0-rc.10"}},
		{"v or not", "v1.2.0", []string{"1.3.0", "v1.3.0", "1.4.0"}, 0, []string{"1.4.0", "v1.3.0"}},
		{"builds", "1.2.3-ls45", []string{"1.2.3-ls100", "1.2.3-ls9", "1.2.4"}, 0, []string{"1.2.3-ls100"}},
		{"the runtime is a variant", "1.2-php8.1", []string{"1.3-php8.2", "1.3-php8.1"}, 0, []string{"1.3-php8.1"}},
		{"the platform is a variant", "1.2-ltsc2019", []string{"1.3-ltsc2022", "1.3-ltsc2019", "1.4-amd64"}, 0, []string{"1.3-ltsc2019"}},
		{"prefix", "version-1.2", []string{"1.3", "version-1.3"}, 0, []string{"version-1.3"}},
		{"no version", "latest", []string{"1", "2"}, 0, nil},
		{"huge", "1", []string{"99999999999999999999999999"}, 0, []string{}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, version.Newer(tt.current, tt.tags, tt.limit)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestResolve(t *testing.T) {
	for _, tt := range []struct {
		raw  string
		tags []string
		want string
	}{
		{"latest", []string{"latest", "1.25", "1.25.3", "1", "v1.25.4"}, "v1.25.4"},
		{"1.25.3", []string{"1.25.3", "1.25"}, "1.25"},
		{"alpine", []string{"alpine", "1.25-alpine", "1.25.3-alpine", "1.25-alpine3.19.99"}, "1.25.3-alpine"},
		{"stable", []string{"stable", "2025.04.0", "2025.04"}, "2025.04.0"},
		{"latest", []string{"latest", "edge", "sha-1234567"}, ""},
		{"latest", nil, ""},
	} {
		if got := version.Resolve(tt.tags, tt.raw); got != tt.want {
			t.Errorf("%s of %v: %q, want %q", tt.raw, tt.tags, got, tt.want)
		}
	}
}

func TestStrict(t *testing.T) {
	for tag, want := range map[string]bool{"1.2.3": true, "v0.0.10": true, "1.2": false, "1.2.3-rc1": false, "01.2.3": false,
		"1.2.3.4": false, "2025.04.0": false, "": false} {
		if version.Strict(tag) != want {
			t.Errorf("%q is not %v", tag, want)
		}
	}
}

func TestSemver(t *testing.T) {
	for tag, want := range map[string]string{
		"1.2": "1.2.0", "2025.04.00": "2025.4.0", "1.2.3.4-x": "1.2.3", "2.0.0-RC01": "2.0.0-rc.1", "1.0b3": "1.0.0-b.3",
		"9999999999999999999": "",
	} {
		v, _ := version.Parse(tag)
		if got, _ := v.Semver(); got != want {
			t.Errorf("%s: %q, want %q", tag, got, want)
		}
	}
}

// Compare is an order, and Newer agrees with it.
func TestOrder(t *testing.T) {
	tag := rapid.Custom(func(t *rapid.T) string {
		return rapid.StringMatching(`v?[0-9]{1,3}(\.[0-9]{1,2}){0,2}(-(rc[0-9]|alpine3\.[0-9]{1,2}|ls[0-9]{1,3}|slim))?`).Draw(t, "tag")
	})
	rapid.Check(t, func(t *rapid.T) {
		tags := rapid.SliceOfN(tag, 3, 12).Draw(t, "tags")
		var all []version.Version
		for _, s := range tags {
			v, ok := version.Parse(s)
			if !ok {
				t.Fatalf("%q is no version", s)
			}
			all = append(all, v)
		}
		a, b, c := all[0], all[1], all[2]
		if version.Compare(a, b) != -version.Compare(b, a) || version.Compare(a, a) != 0 {
			t.Fatalf("%v %v", a, b)
		}
		if version.Compare(a, b) <= 0 && version.Compare(b, c) <= 0 && version.Compare(a, c) > 0 {
			t.Fatalf("%v %v %v", a, b, c)
		}
		newer := version.Newer(tags[0], tags, 0)
		if !slices.IsSortedFunc(newer, func(x, y string) int {
			v, _ := version.Parse(x)
			w, _ := version.Parse(y)
			return version.Compare(w, v)
		}) || slices.Contains(newer, tags[0]) {
			t.Fatalf("newer than %s: %v", tags[0], newer)
		}
	})
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"1.2.3", "v1-rc", "RELEASE.2023-01-02T03-04-05Z", "1.0.0rc1", "\xff1"} {
		f.Add(s, "2.0")
	}
	f.Fuzz(func(t *testing.T, a, b string) {
		v, ok := version.Parse(a)
		if !ok {
			return
		}
		w, _ := version.Parse(b)
		if !version.Family(v, v) || version.Compare(v, v) != 0 {
			t.Errorf("%q is not like itself", a)
		}
		_, _ = v.Semver()
		if len(w.Parts) > 0 {
			_, _ = version.Family(v, w), version.Compare(v, w)
		}
		_, _ = version.Newer(a, []string{a, b}, 1), version.Resolve([]string{a, b}, "")
	})
}

package engine_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/patchbay-dev/patchbay/sdk/engine"
)

// replica is a container of the service web of the project blog.
func replica(id, name, number, state string, more ...string) engine.Container {
	labels := map[string]string{engine.LabelProject: "blog", engine.LabelService: "web", engine.LabelNumber: number}
	for _, m := range more {
		name, value, _ := strings.Cut(m, "=")
		labels[name] = value
	}
	return engine.Container{ID: id + strings.Repeat("0", 64-len(id)), Name: name, State: state, Labels: labels}
}

func TestRepair(t *testing.T) {
	const a, b = "aaaaaaaaaaaa", "bbbbbbbbbbbb"
	for name, tt := range map[string]struct {
		list         []engine.Container
		keep, remove []string
		rename       map[string]string
	}{
		"in order": {
			list: []engine.Container{replica(a, "blog_web_1", "1", "running"), replica(b, "blog_web_2", "2", "exited")}, keep: []string{a, b},
		},
		"v1 renamed the old one": {
			list: []engine.Container{replica(a, a+"_blog_web_1", "1", "exited")}, keep: []string{a}, rename: map[string]string{a: "blog_web_1"},
		},
		"v1 created the new one": {
			list: []engine.Container{replica(a, a+"_blog_web_1", "1", "exited"), replica(b, "blog_web_1", "1", "created")},
			keep: []string{a}, remove: []string{b}, rename: map[string]string{a: "blog_web_1"},
		},
		"v1 started the new one": {
			list: []engine.Container{replica(a, a+"_blog_web_1", "1", "exited"), replica(b, "blog_web_1", "1", "running")}, keep: []string{b},
			remove: []string{a},
		},
		"v1 with a name of its own": {
			list: []engine.Container{replica(a, a+"_vpn", "1", "exited")}, keep: []string{a}, rename: map[string]string{a: "vpn"},
		},
		"v2 created the new one": {
			list: []engine.Container{replica(a, "blog-web-1", "1", "running"),
				replica(b, a+"_blog-web-1", "1", "created", engine.LabelReplace+"=web-1")},
			keep: []string{a}, remove: []string{b},
		},
		"v2 stopped the old one": {
			list: []engine.Container{replica(a, "blog-web-1", "1", "exited"),
				replica(b, a+"_blog-web-1", "1", "created", engine.LabelReplace+"=web-1")},
			keep: []string{a}, remove: []string{b},
		},
		"v2 removed the old one": {
			list: []engine.Container{replica(b, a+"_blog-web-1", "1", "created", engine.LabelReplace+"=web-1")},
			keep: []string{b}, rename: map[string]string{b: "blog-web-1"},
		},
		"v2 with a name of its own": {
			list: []engine.Container{replica(b, a+"_vpn", "1", "created", engine.LabelReplace+"=vpn")}, keep: []string{b},
			rename: map[string]string{b: "vpn"},
		},
		"two of three": {
			list: []engine.Container{
				replica(a, "blog-web-1", "1", "running"), replica("cc", "blog-web-2", "2", "running"),
				replica(b, "cc0000000000_blog-web-2", "2", "created", engine.LabelReplace+"=web-2"),
			}, keep: []string{a, "cc"}, remove: []string{b},
		},
		"a name that only looks so": {
			list: []engine.Container{replica(a, b+"_vpn", "1", "running")}, keep: []string{a},
		},
		"a name that only looks so, replaced": {
			list: []engine.Container{replica(a, b+"_vpn", "1", "running", engine.LabelReplace+"="+b+"_vpn")}, keep: []string{a},
		},
		"compose run": {
			list: []engine.Container{replica(a, "blog-web-1", "1", "running"),
				replica(b, "blog-web-run-1", "1", "running", engine.LabelOneOff+"=True")}, keep: []string{b, a},
		},
		"not of compose": {list: []engine.Container{{ID: a, Name: b + "_x"}}, keep: []string{a}},
	} {
		t.Run(name, func(t *testing.T) {
			got := engine.Repair(tt.list)
			short := func(list []engine.Container) (out []string) {
				for _, c := range list {
					out = append(out, strings.TrimRight(c.ID, "0"))
				}
				return out
			}
			renamed := map[string]string{}
			for id, name := range got.Rename {
				renamed[strings.TrimRight(id, "0")] = name
			}
			if !slices.Equal(short(got.Keep), tt.keep) || !slices.Equal(short(got.Remove), tt.remove) || !maps.Equal(renamed, tt.rename) {
				t.Errorf("keep %v, remove %v, rename %v", short(got.Keep), short(got.Remove), renamed)
			}
			if want := len(tt.remove)+len(tt.rename) > 0; got.Needed() != want {
				t.Errorf("needed: %v", !want)
			}
			slices.Reverse(tt.list)
			if other := engine.Repair(tt.list); !slices.Equal(short(other.Remove), tt.remove) {
				t.Errorf("in another order it removes %v", short(other.Remove))
			}
		})
	}
}

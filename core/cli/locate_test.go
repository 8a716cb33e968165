package cli

import (
	"os"
	"path/filepath"
	"testing"
)

// TestFindConfiguration takes away one configuration after the other.
func TestFindConfiguration(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	system := filepath.Join(dir, "etc.hcl")
	for _, path := range []string{localConfiguration, system} {
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	named := func(string) (string, bool) { return "named.hcl", true }
	empty := func(string) (string, bool) { return "", true }
	for _, c := range []struct {
		flag   string
		env    func(string) (string, bool)
		remove string
		want   string
	}{
		{"flag.hcl", named, "", "flag.hcl"}, {"", named, "", "named.hcl"}, {"", empty, "", localConfiguration},
		{"", empty, localConfiguration, system}, {"", empty, system, localConfiguration},
	} {
		if c.remove != "" {
			if err := os.Remove(c.remove); err != nil {
				t.Fatal(err)
			}
		}
		if got := findConfiguration(c.flag, c.env, system); got != c.want {
			t.Errorf("it is %s, want %s", got, c.want)
		}
	}
}

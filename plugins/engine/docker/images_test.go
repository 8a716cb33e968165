package docker_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/patchbay-dev/patchbay/plugins/internal/dockertest"
)

// TestImagesReadTwice reads images one by one and then from the list: both say the same, save for what has changed since.
func TestImagesReadTwice(t *testing.T) {
	c := open(t, "{}")
	var ids []string
	for range 6 {
		ids = append(ids, imageOf(t, dockertest.Behaviour{Version: "1", Labels: map[string]string{"k": "v"}}))
	}
	first, err := c.Images(t.Context(), ids)
	if err != nil {
		t.Fatal(err)
	}
	second, err := c.Images(t.Context(), ids)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(first, second, cmp.Comparer(func(a, b []string) bool { return slices.Equal(a, b) })); diff != "" {
		t.Error(diff)
	}
	ref := dockertest.Name(t) + ":new"
	if err := c.Tag(t.Context(), ids[0], ref); err != nil {
		t.Fatal(err)
	}
	dockertest.Docker(t, "rmi", "-f", ids[1])
	third, err := c.Images(t.Context(), ids)
	if err != nil || third[1] != nil || !slices.Equal(third[0].RepoTags, []string{ref}) || third[2] == nil {
		t.Errorf("after a tag and a removal: %+v, %v", third, err)
	}
	dockertest.Docker(t, "rmi", ref)
}

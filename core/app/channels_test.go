package app

import (
	"testing"
)

// TestMissingChannelIsLeftOut: a channel that is not required and does not start does not keep the core from working.
func TestMissingChannelIsLeftOut(t *testing.T) {
	a := startApp(t, nil)
	set, err := a.channels.Settings(t.Context())
	must(t, err)
	if _, gone := set.Channels["gone"]; gone || len(set.Channels) != 1 || set.Channels["main"].Instance != "notify.main" {
		t.Errorf("channels %+v", set.Channels)
	}
}

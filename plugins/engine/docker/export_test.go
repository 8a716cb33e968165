package docker

import (
	"context"
	"time"

	"github.com/docker/docker/client"
	"github.com/hashicorp/go-hclog"
)

// Declare is Plugin with another executable for what runs beside the plugin.
var Declare = newPlugin

// RemoveLeftHelpers removes what is left of the helpers that have a label, as it would at another time.
func RemoveLeftHelpers(ctx context.Context, label string, now time.Time) error {
	d, err := newEngine(Config{}, hclog.NewNullLogger(), nil)
	if err != nil {
		return err
	}
	d.now = func() time.Time { return now }
	return d.callEngine(ctx, "remove what is left", func(api *client.Client) error {
		d.removeLeftHelpers(ctx, api, label)
		return nil
	})
}

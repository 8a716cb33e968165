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

// NewHelperRef returns the function with which an instance finds or makes its helper image.
func NewHelperRef(executable func() (string, error)) (func(context.Context) (string, error), error) {
	d, err := newEngine(Config{}, hclog.NewNullLogger(), executable)
	if err != nil {
		return nil, err
	}
	return d.helperRef, nil
}

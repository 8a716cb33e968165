package docker_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/patchbay-dev/patchbay/plugins/engine/docker"
)

// TestHelperImageIsNotAwaited: a call that is called off does not wait for another one that makes the helper image.
func TestHelperImageIsNotAwaited(t *testing.T) {
	begun, release := make(chan struct{}), make(chan struct{})
	refuse := errors.New("no executable")
	begin := sync.OnceFunc(func() { close(begun) })
	helperRef, err := docker.NewHelperRef(func() (string, error) {
		begin()
		<-release
		return "", refuse
	})
	if err != nil {
		t.Fatal(err)
	}
	first := make(chan struct{})
	go func() {
		defer close(first)
		_, _ = helperRef(context.Background())
	}()
	defer func() {
		close(release)
		<-first
	}()
	<-begun
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	second := make(chan error, 1)
	go func() {
		_, err := helperRef(canceled)
		second <- err
	}()
	select {
	case err := <-second:
		if !errors.Is(err, context.Canceled) {
			t.Errorf("the call that was called off ended with %v", err)
		}
	case <-time.After(10 * time.Second):
		t.Fatal("the call that was called off waits for the other one")
	}
}

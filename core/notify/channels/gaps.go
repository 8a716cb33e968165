package channels

import (
	"context"
	"time"
)

// gapWait bounds how long the channels are asked whether their settings are complete.
const gapWait = 5 * time.Second

// Gaps returns, by channel, why one that plays a role cannot be used as it is set: an invalid_argument names in its
// member field the setting that is missing or wrong, anything else says that the channel could not be asked. Channels that
// could be used are left out. Nothing is sent.
func (m *Manager) Gaps(ctx context.Context) (map[string]error, error) {
	set, err := m.readSettings(ctx)
	if err != nil {
		return nil, err
	}
	all, err := m.listChannels()
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, gapWait)
	defer cancel()
	out := map[string]error{}
	for _, c := range all {
		if c.role == "" {
			continue
		}
		if err := m.checkComplete(ctx, &set, all, c.role); err != nil {
			out[c.name] = err
		}
	}
	return out, nil
}

// CheckRole returns why the channel of a role cannot be used as it is set. enabled is false for one that is switched
// off, which is not checked.
func (m *Manager) CheckRole(ctx context.Context, role string) (enabled bool, err error) {
	set, err := m.readSettings(ctx)
	if err != nil || !set.channelEnabled(role) {
		return false, err
	}
	all, err := m.listChannels()
	if err != nil {
		return true, err
	}
	return true, m.checkComplete(ctx, &set, all, role)
}

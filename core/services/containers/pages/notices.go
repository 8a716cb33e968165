package pages

import "context"

// readNotices reads what the list of stacks tells above it.
func (p pages) readNotices(ctx context.Context, list *stacksView) (err error) {
	if list.Blocking, err = p.countBlocking(ctx); err != nil {
		return err
	}
	set, err := p.service.SystemSettings(ctx)
	if err != nil {
		return err
	}
	list.ChecksOff = set.Schedules.UpdateCheck != nil && !set.Schedules.UpdateCheck.Enabled
	return nil
}

// countBlocking is how many deploy checks the page tells of.
func (p pages) countBlocking(ctx context.Context) (int, error) {
	w, err := p.service.Welcome(ctx)
	if err != nil || w.NeverAutoOpen {
		return 0, err
	}
	rep, err := p.service.DeployReport(ctx)
	if err != nil || rep == nil {
		return 0, err
	}
	return len(rep.Overall.Blocking), nil
}

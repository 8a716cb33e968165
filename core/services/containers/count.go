package containers

import "context"

// CountServices returns how many services of stacks there are that are not archived: "all", those "running", and those with an
// "update" that may be applied.
func (s *Service) CountServices(ctx context.Context) (map[string]int64, error) {
	stacks, err := s.Overview(ctx, ArchivedExclude)
	out := map[string]int64{"all": 0, "running": 0, "update": 0}
	for _, st := range stacks {
		for i := range st.Services {
			svc := &st.Services[i]
			if svc.Archived {
				continue
			}
			out["all"]++
			if svc.State == StateRunning {
				out["running"]++
			}
			if svc.Actionable() {
				out["update"]++
			}
		}
	}
	return out, err
}

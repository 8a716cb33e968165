package pages

import (
	"github.com/gin-gonic/gin"

	"github.com/patchbay-dev/patchbay/core/services/containers/candidate"
	"github.com/patchbay-dev/patchbay/core/services/containers/project"
	"github.com/patchbay-dev/patchbay/core/services/containers/work"
)

// serviceStatus returns the status of a service, with a version that was rolled back told apart from others.
func serviceStatus(s project.ServiceDetail) string {
	if s.Candidate != nil && s.Candidate.RolledBack != nil && s.Ignore == nil {
		return "rolled_back"
	}
	return s.Status
}

// servicesLeftOut returns the services of the stacks that an update of all of them leaves out.
func servicesLeftOut(list []project.StackDetail) (out []updateRow) {
	for _, st := range list {
		for _, s := range st.Services {
			if s.LeftOut() && !st.Archived {
				out = append(out, updateRow{st, s})
			}
		}
	}
	return out
}

// ignoreVersion adds a rule that keeps back one version of a service, known by its digest. The note names the version.
func (p pages) ignoreVersion(c *gin.Context, id string) error {
	_, err := p.service.AddIgnoreRule(c.Request.Context(), candidate.IgnoreRule{
		Enabled: true, Scope: candidate.IgnoreScope{Type: work.ScopeService, ServiceID: id},
		Match: candidate.RuleMatch{Kind: "digest", Value: c.PostForm("digest")}, Note: c.PostForm("version"),
	})
	return err
}

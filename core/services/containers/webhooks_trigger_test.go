package containers

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"github.com/patchbay-dev/patchbay/core/services/containers/project"
	"github.com/patchbay-dev/patchbay/core/services/containers/webhook"
	"github.com/patchbay-dev/patchbay/core/services/containers/work"
)

func TestTrigger(t *testing.T) {
	hookDialects(t, func(e *hookEnv) {
		ids := e.manage(hookImages+"/team/app:1", hookImages+"/team/b:1")
		digest := "sha256:" + strings.Repeat("a", 64)
		if err := e.svc.repo.UpdateService(context.Background(), ids[0],
			map[string]any{"candidate_digest": digest, "candidate_tag": "1", "candidate_match": project.ArchMatch}, 1); err != nil {
			t.Fatal(err)
		}
		send := func(secret, body string) hookGot {
			return e.send(http.MethodPost, "/api/webhooks/trigger", body, "X-Svc-Webhook-Secret", secret)
		}
		one := `{"serviceId":"` + ids[0] + `","targetTag":"1","targetDigest":"` + digest + `","pullTags":[]}`
		check := `{"action":"check","scope":"service","serviceId":"` + ids[1] + `"}`
		update := `{"action":"update","scope":"service","serviceId":"` + ids[0] + `","targets":[` + one + `]}`
		for name, tt := range map[string]struct {
			secret, body string
			status       int
			code         string
		}{
			"no secret":        {"", check, 401, "invalid_signature"},
			"wrong secret":     {"x", check, 401, "invalid_signature"},
			"no JSON":          {hookTrigger, "x", 400, "invalid_argument"},
			"null":             {hookTrigger, "null", 400, "invalid_argument"},
			"wrong type":       {hookTrigger, `{"action":1}`, 400, "invalid_argument"},
			"no action":        {hookTrigger, `{"scope":"all"}`, 400, "invalid_argument"},
			"no scope":         {hookTrigger, `{"action":"check"}`, 400, "invalid_argument"},
			"check of nothing": {hookTrigger, `{"action":"check","scope":"service"}`, 400, "invalid_argument"},
			"unknown stack":    {hookTrigger, `{"action":"check","scope":"stack","stackId":"stk_x"}`, 400, "invalid_argument"},
			"no targets":       {hookTrigger, `{"action":"update","scope":"all"}`, 400, "invalid_argument"},
			"no targets, service": {hookTrigger, `{"action":"update","scope":"service","serviceId":"` + ids[0] +
				`","targetTag":"1","targetDigest":"` + digest + `","pullTags":[]}`, 400, "invalid_argument"},
			"other target": {hookTrigger, `{"action":"update","scope":"service","serviceId":"` + ids[1] + `","targets":[` + one + `]}`, 400,
				"invalid_argument"},
			"no service":  {hookTrigger, `{"action":"update","scope":"service","targets":[` + one + `]}`, 400, "invalid_argument"},
			"backup mode": {hookTrigger, strings.Replace(update, `"targets"`, `"backupMode":"x","targets"`, 1), 400, "invalid_argument"},
		} {
			if g := send(tt.secret, tt.body); g.status != tt.status || g.text("code") != tt.code {
				t.Errorf("%s: %d %s", name, g.status, g.body)
			}
		}
		if n := len(e.jobs(work.JobTypes()...)); n != 0 {
			t.Fatalf("%d jobs", n)
		}
		first := send(hookTrigger, check)
		if again := send(hookTrigger, check); first.status != 200 || again.status != 200 || first.text("jobId") == "" ||
			again.text("jobId") != first.text("jobId") {
			t.Errorf("%s %s", first.body, again.body)
		}
		if j := e.jobs(work.JobCheck)[0]; j.Actor != work.ActorWebhook || hookSpecOf(t, j).Reason != work.ReasonWebhook {
			t.Errorf("%+v", j)
		}
		up := send(hookTrigger, strings.Replace(update, `"targets"`, `"backupMode":"skip","allowArchMismatch":true,"targets"`, 1))
		if up.status != 200 {
			t.Fatalf("%d %s", up.status, up.body)
		}
		j := e.jobs(work.JobUpdate)[0]
		if spec := hookSpecOf(t, j); j.Actor != work.ActorWebhook || spec.Reason != work.ReasonWebhook || spec.BackupMode != "skip" ||
			!spec.AllowArchMismatch || len(spec.Targets) != 1 {
			t.Errorf("%+v", spec)
		}
		if g := send(hookTrigger, update); g.status != 409 || g.text("existingJobId") != up.text("jobId") {
			t.Errorf("%d %s", g.status, g.body)
		}
		st := *e.svc.state.Load()
		st.settings.WebhookSecret = ""
		e.svc.state.Store(&st)
		if g := send("", check); g.status != 401 || g.text("code") != "invalid_signature" || g.text("reason") != webhook.SignatureNoSecret {
			t.Errorf("%d %s", g.status, g.body)
		}
		if g := send(hookTrigger, check); g.status != 401 {
			t.Errorf("%d %s", g.status, g.body)
		}
		e.nothingLeaks()
	})
}

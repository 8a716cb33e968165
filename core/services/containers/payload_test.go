package containers

import (
	"encoding/json"
	"testing"

	"github.com/patchbay-dev/patchbay/core/queue"
	"github.com/patchbay-dev/patchbay/core/services/containers/backup"
	"github.com/patchbay-dev/patchbay/core/services/containers/candidate"
	"github.com/patchbay-dev/patchbay/core/services/containers/change"
	"github.com/patchbay-dev/patchbay/core/services/containers/lifecycle"
	"github.com/patchbay-dev/patchbay/core/services/containers/project"
	"github.com/patchbay-dev/patchbay/core/services/containers/webhook"
	"github.com/patchbay-dev/patchbay/core/services/containers/work"
)

// formerPayload is what versions stored that had one payload for all types of jobs.
const formerPayload = `{"scope":"service","stackId":"stk_1","serviceId":"svc_1","reason":"webhook","mode":"apply",` +
	`"targets":[{"serviceId":"svc_1","targetTag":"1","targetDigest":"sha256:1","pullTags":[]}],"images":{"svc_1":"web:1"},"allowArchMismatch":true,` +
	`"allowDrift":true,"backupMode":"skip","action":"stop","changeId":"chg_1","backupIds":["bkp_1"],"repo":"t/app","op":"sync",` +
	`"delivery":{"deliveryId":"d1"},"resumes":"chg_0","ran":["svc_2"]}`

// TestPayloadsOfFormerVersions: every type of job reads from the payload of a former version all that it needs.
func TestPayloadsOfFormerVersions(t *testing.T) {
	const subject = `"scope":"service","stackId":"stk_1","serviceId":"svc_1","reason":"webhook"`
	const changes = `"mode":"apply","targets":[{"serviceId":"svc_1","targetTag":"1","targetDigest":"sha256:1","pullTags":[]}],` +
		`"images":{"svc_1":"web:1"},"allowDrift":true,"backupMode":"skip","resumes":"chg_0","ran":["svc_2"]`
	for _, c := range []struct {
		kinds   []string
		payload any
		want    string
	}{
		{[]string{work.JobCheck}, &candidate.CheckJob{}, `{` + subject + `,"delivery":{"deliveryId":"d1"}}`},
		{[]string{work.JobDiscovery}, &project.DiscoveryJob{}, `{` + subject + `,"delivery":{"deliveryId":"d1"}}`},
		{[]string{work.JobRuntimeScan}, &project.RuntimeScanJob{}, `{` + subject + `}`},
		{[]string{work.JobUpdate}, &change.UpdateJob{}, `{` + subject + `,` + changes + `,"allowArchMismatch":true}`},
		{[]string{work.JobRollback}, &change.RollbackJob{}, `{` + subject + `,` + changes + `,"changeId":"chg_1"}`},
		{[]string{work.JobServiceLifecycle, work.JobStackLifecycle}, &lifecycle.Job{}, `{` + subject + `,"action":"stop"}`},
		{[]string{work.JobRestore}, &backup.RestoreJob{}, `{` + subject + `,"backupIds":["bkp_1"]}`},
		{[]string{work.JobHook, work.JobHookSyncAll, work.JobHookSyncRepo}, &webhook.Payload{}, `{` + subject + `,"op":"sync","repo":"t/app"}`},
	} {
		job := queue.Job{Payload: json.RawMessage(formerPayload)}
		if err := job.Decode(c.payload); err != nil {
			t.Errorf("%v: %v", c.kinds, err)
			continue
		}
		if got, err := json.Marshal(c.payload); err != nil || string(got) != c.want {
			t.Errorf("%v: %v\n%s\n%s", c.kinds, err, got, c.want)
		}
	}
}

package news

import (
	"fmt"
	"testing"
	"time"

	"github.com/patchbay-dev/patchbay/core/notify"
)

var (
	testTime  = time.Date(2026, 3, 5, 8, 30, 0, 123e6, time.UTC)
	shopWeb   = Service{"stk_01", "shop", "svc_01", "web"}
	shopAPI   = Service{"stk_01", "shop", "svc_02", "api"}
	webChange = VersionChange{shopWeb, "latest", "latest", "1.2.0", "1.3.0"}
	longName  = Service{"stk_02", "生产环境订单与支付处理系统（华东一区）🚀", "svc_03", "订单网关 <b>v2</b>"}
)

func writer(locale, base string) Writer {
	return Writer{Locale: locale, BaseURL: base, SitePath: "/containers/", Version: "1.4.0", Source: "containers", Now: testTime}
}

// write writes an event out by its type.
func write(w Writer, e any) (*notify.Message, error) {
	switch e := e.(type) {
	case JobEvent:
		return w.JobFinished(e)
	case NewVersionsEvent:
		return w.NewVersions(e)
	case AnomalyEvent:
		return w.WebhookAnomaly(e)
	case TestEvent:
		return w.Test(e)
	}
	return nil, fmt.Errorf("%T is no event", e)
}

func must(t testing.TB, w Writer, e any) *notify.Message {
	t.Helper()
	m, err := write(w, e)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func services(n int) (out []Service) {
	for i := range n {
		out = append(out, Service{"stk_01", "shop", fmt.Sprintf("svc_%02d", i), fmt.Sprintf("part-%d", i)})
	}
	return out
}

// unread is a service whose versions nobody knows.
func unread(s Service) VersionChange { return VersionChange{Service: s} }

func changes(n int) (out []VersionChange) {
	for i, s := range services(n) {
		v := VersionChange{Service: s, CurrentTag: "latest", CandidateTag: "latest"}
		if i%3 != 0 {
			v.CurrentDisplay, v.CandidateDisplay = fmt.Sprintf("1.%d.0", i), fmt.Sprintf("1.%d.0", i+1)
		}
		out = append(out, v)
	}
	return out
}

func job(status string, more func(*JobEvent)) JobEvent {
	e := JobEvent{
		ID: "job_01", Type: "update", Scope: "all", Status: status, Reason: "ui", CreatedBy: "ops",
		CreatedAt: testTime.Add(-3 * time.Minute), StartedAt: testTime.Add(-2 * time.Minute), FinishedAt: testTime.Add(-40 * time.Second),
	}
	more(&e)
	return e
}

func repos(n int) (out []AnomalyRepo) {
	for i := range n {
		state := []string{"missing", "conflict", "error"}[i%3]
		r := AnomalyRepo{FullName: fmt.Sprintf("octo/app_%d", i), State: state}
		if state == "error" {
			r.LastError = "the token\tmay not read <webhooks>"
		}
		out = append(out, r)
	}
	return out
}

// samples are events of all kinds and shapes.
func samples() map[string]any {
	return map[string]any{
		"job-one": job("success", func(e *JobEvent) {
			e.Changed, e.Affected = []VersionChange{webChange}, []VersionChange{webChange, unread(shopAPI)}
		}),
		"job-scope-service-failed": job("failed", func(e *JobEvent) {
			e.Scope, e.StackID, e.ServiceID, e.Affected = "service", "stk_01", "svc_02", []VersionChange{{shopAPI, "stable", "stable", "", "2.0.1"}}
			e.Failure, e.Excerpt = "容器没有变为健康状态", "Error: `exit status 1`\n\x1b[31mfatal\x1b[0m: <config> & ```\n\tnot found"
		}),
		"job-many-rolled-back": job("rolled_back", func(e *JobEvent) {
			e.Scope, e.StackID, e.Affected = "stack", "stk_01", changes(12)
			e.Failure = "健康检查超时"
		}),
		"job-canceled": job("canceled", func(e *JobEvent) { e.StartedAt = time.Time{} }),
		"job-long-names": job("success", func(e *JobEvent) {
			e.Changed = []VersionChange{{longName, "latest", "latest", "2026.03.04-build.20260304.1+gabcdef", "2026.03.05-build.20260305.7+g123456"}}
		}),
		"job-one-of-two-rolled-back": job("rolled_back", func(e *JobEvent) {
			e.Scope, e.StackID, e.Failure = "stack", "stk_01", "健康检查超时"
			e.Changed, e.Failed, e.Affected = []VersionChange{webChange}, []VersionChange{{shopAPI, "1", "1", "1.8.2", "1.9.0"}},
				[]VersionChange{webChange, unread(shopAPI)}
		}),
		"job-canceled-undone": job("rolled_back", func(e *JobEvent) {
			e.Canceled, e.Failed, e.Affected = true, []VersionChange{webChange}, []VersionChange{webChange}
		}),
		"job-canceled-after-all": job("canceled", func(e *JobEvent) {
			e.Canceled, e.Changed, e.Affected = true, []VersionChange{webChange}, []VersionChange{webChange}
		}),
		"job-canceled-between": job("canceled", func(e *JobEvent) {
			e.Canceled, e.Changed, e.Affected = true, []VersionChange{webChange}, []VersionChange{webChange, unread(shopAPI)}
		}),
		"version-one-both": NewVersionsEvent{"job_02", "success", "all", 12,
			[]VersionChange{{shopWeb, "latest", "latest", "1.2.0", "1.3.0"}}},
		"version-one-candidate": NewVersionsEvent{"job_02", "success", "all", 12, []VersionChange{{shopWeb, "stable", "stable", "", "1.3.0"}}},
		"version-one-current":   NewVersionsEvent{"job_02", "success", "all", 12, []VersionChange{{shopWeb, "stable", "edge", "1.2.0", ""}}},
		"version-one-neither":   NewVersionsEvent{"job_02", "success", "service", 1, []VersionChange{{shopWeb, "stable", "stable", "", ""}}},
		"version-long-names": NewVersionsEvent{"job_02", "success", "all", 12, []VersionChange{
			{longName, "latest", "latest", "2026.03.04-build.20260304.1+gabcdef", "2026.03.05-build.20260305.7+g123456"},
			{shopWeb, "latest", "latest", "1.2.0", "1.3.0"},
			{Service{"stk_03", "一个名字特别特别长的堆栈用来测试截断效果是否自然", "svc_04", "name-of-a-service-that-never-ends-and-goes-on-and-on"}, "1", "2", "", "2.0"},
		}},
		"version-three":    NewVersionsEvent{"job_02", "success", "all", 12, changes(3)},
		"version-thirteen": NewVersionsEvent{"job_02", "success", "all", 40, changes(13)},
		"anomaly-two":      AnomalyEvent{"job_03", "success", 1, 1, 0, repos(2)},
		"anomaly-twelve":   AnomalyEvent{"job_03", "success", 4, 4, 4, repos(12)},
		"test":             TestEvent{},
		"test-chat":        TestEvent{Channel: "chat", Message: "你好，*world* <script>"},
	}
}

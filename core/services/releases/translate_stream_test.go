package releases_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/patchbay-dev/patchbay/core/internal/testing/fake"
	"github.com/patchbay-dev/patchbay/sdk/codehost"
	"github.com/patchbay-dev/patchbay/sdk/translator"
)

func TestBatchesOfRequests(t *testing.T) {
	forEach(t, func(t *testing.T, s *server) {
		ids := s.addReleases("First words", "Second words", "Third words")
		items := []dict{input("release_summary", ids[0]), input("release_summary", ids[1]), input("release_summary", ids[2]),
			input("release_summary", "999")}
		got := s.want(http.StatusOK, "", s.ada, "POST", "/api/translate/requests", dict{"mode": "async", "items": items})["requests"].([]any)
		if len(got) != 4 || got[3].(dict)["status"] != "failed" || got[0].(dict)["producer_ref"] != "ref-"+ids[0] {
			t.Fatalf("%v", got)
		}
		s.until("all are completed", func() bool {
			for _, r := range got[:3] {
				if s.want(http.StatusOK, "", s.ada, "GET", "/api/translate/requests/"+r.(dict)["request_id"].(string), nil)["status"] != "completed" {
					return false
				}
			}
			return true
		})
		if calls := s.model.Calls(); len(calls) != 1 || len(calls[0].Parts) != 6 {
			t.Errorf("%d calls", len(calls))
		}
	}, withTranslator)
}

// events reads a stream of events until it ends or n have come, and returns their names and the last data.
func (s *server) events(who, path string, n int, header ...string) (names []string, last dict) {
	s.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, "GET", s.base+path, nil)
	must(s, err)
	req.Header.Set("Authorization", "Bearer "+who)
	for i := 0; i+1 < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	res, err := http.DefaultClient.Do(req)
	must(s, err)
	defer func() { _ = res.Body.Close() }()
	lines := bufio.NewScanner(res.Body)
	for len(names) < n && lines.Scan() {
		if name, ok := strings.CutPrefix(lines.Text(), "event: "); ok {
			names = append(names, name)
		}
		if data, ok := strings.CutPrefix(lines.Text(), "data: "); ok {
			last = dict{}
			must(s, json.Unmarshal([]byte(data), &last))
			if len(names) == n {
				break
			}
		}
	}
	return names, last
}

func TestStreamsAreCutAndResumed(t *testing.T) {
	forEach(t, func(t *testing.T, s *server) {
		ids := s.addReleases("First words", "Second words")
		hold := make(chan struct{})
		s.model.Before(func(ctx context.Context, _ translator.Request) {
			select {
			case <-hold:
			case <-ctx.Done():
			}
		})
		in := input("release_summary", ids[0])
		got := s.want(http.StatusOK, "", s.ada, "POST", "/api/translate/requests", dict{"mode": "async", "item": in})
		path := "/api/translate/requests/" + got["request_id"].(string) + "/stream"
		// The stream is cut after three events, and goes on where it was.
		if names, _ := s.events(s.ada, path, 3); fmt.Sprint(names) != "[queued batched running]" {
			t.Errorf("%v", names)
		}
		close(hold)
		names, last := s.events(s.ada, path, 9, "Last-Event-ID", "3")
		if fmt.Sprint(names) != "[completed]" || last["status"] != "completed" || last["result"].(dict)["status"] != "ready" ||
			last["batch_id"] == nil {
			t.Errorf("%v %v", names, last)
		}
		if names, _ := s.events(s.ada, path, 9); fmt.Sprint(names) != "[queued batched running completed]" {
			t.Errorf("from the beginning: %v", names)
		}
		// A stream of lines that was cut is asked for again, and nothing is translated twice.
		s.model.Before(nil)
		calls := len(s.model.Calls())
		for range 2 {
			reply := s.send(s.ada, "POST", "/api/translate/releases/batch/stream", dict{"release_ids": append(ids, "999")})
			lines := strings.Split(strings.TrimSpace(string(reply.body)), "\n")
			if len(lines) != 4 || lines[3] != `{"event":"done"}` || !strings.Contains(string(reply.body), `"status":"missing"`) ||
				strings.Count(string(reply.body), `"status":"ready"`) != 2 {
				t.Errorf("%s", reply.body)
			}
		}
		if n := len(s.model.Calls()) - calls; n != 1 {
			t.Errorf("%d calls for a text that was translated once", n)
		}
	}, withTranslator)
}

func TestLegacyTranslation(t *testing.T) {
	forEach(t, func(t *testing.T, s *server) {
		ids := s.addReleases("First words", "Second words")
		one := s.want(http.StatusOK, "", s.ada, "POST", "/api/translate/release", dict{"release_id": ids[0]})
		if one["status"] != "ready" || one["lang"] != "zh-CN" || one["summary"] != "译First words" {
			t.Errorf("%v", one)
		}
		list := s.want(http.StatusOK, "", s.ada, "POST", "/api/translate/release/detail/batch",
			dict{"release_ids": append(ids, "999")})["items"].([]any)
		if len(list) != 3 || list[1].(dict)["status"] != "ready" || list[2].(dict)["status"] != "missing" || list[2].(dict)["id"] != "999" {
			t.Errorf("%v", list)
		}
		task := s.want(http.StatusOK, "", s.bob, "POST", "/api/translate/release/detail?return_mode=task_id", dict{"release_id": ids[1]})
		names, last := s.events(s.bob, "/api/tasks/"+task["task_id"].(string)+"/events", 9)
		if task["task_type"] != "translate.release_detail" || names[len(names)-1] != "task.completed" || last["status"] != "succeeded" ||
			last["result"].(dict)["status"] != "ready" {
			t.Errorf("%v: %v %v", task, names, last)
		}
		reply := s.send(s.ada, "POST", "/api/translate/release?return_mode=sse", dict{"release_id": ids[1]})
		if !strings.Contains(string(reply.body), "event: task.completed") {
			t.Errorf("%s", reply.body)
		}
		s.want(http.StatusNotFound, "not_found", s.ada, "POST", "/api/translate/notification", dict{"thread_id": "1"})
	}, withTranslator)
}

func TestNotificationsAreTranslated(t *testing.T) {
	forEach(t, func(t *testing.T, s *server) {
		s.host.Change("ada", func(c *fake.CodeHostContent) {
			c.Notifications = []codehost.Notification{{ThreadID: "77", RepoFullName: "acme/tool", Title: "Patterns are lost", SubjectType: "Issue",
				UpdatedAt: day, Unread: true}}
		})
		s.want(http.StatusOK, "", s.adaCookie, "PUT", "/api/reaction-token", dict{"token": adaToken})
		s.want(http.StatusOK, "", s.ada, "POST", "/api/sync/notifications", nil)
		got := s.want(http.StatusOK, "", s.ada, "POST", "/api/translate/notification", dict{"thread_id": "77"})
		if got["status"] != "ready" || got["title"] != "译Patterns are lost" || got["summary"] != nil {
			t.Errorf("%v", got)
		}
		list := s.want(http.StatusOK, "", s.ada, "POST", "/api/translate/notifications/batch",
			dict{"thread_ids": []string{"77", "78"}})["items"].([]any)
		if list[0].(dict)["status"] != "ready" || list[1].(dict)["status"] != "missing" {
			t.Errorf("%v", list)
		}
		s.want(http.StatusNotFound, "not_found", s.bob, "POST", "/api/translate/notification", dict{"thread_id": "77"})
		in := input("notification", "77")
		in["max_wait_ms"] = -5
		in["target_slots"] = []string{"title_zh"}
		if result := s.want(http.StatusOK, "", s.ada, "POST", "/api/translate/requests",
			dict{"mode": "wait", "item": in})["result"].(dict); result["title_zh"] != "译Patterns are lost" || result["body_md"] != nil {
			t.Errorf("%v", result)
		}
	}, withTranslator)
}

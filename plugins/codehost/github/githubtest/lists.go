package githubtest

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"
)

// reactionKeys are the keys of counts in the REST API by the words of GraphQL.
var reactionKeys = map[string]string{
	"THUMBS_UP": "+1", "THUMBS_DOWN": "-1", "LAUGH": "laugh", "CONFUSED": "confused", "HEART": "heart", "HOORAY": "hooray",
	"ROCKET": "rocket", "EYES": "eyes",
}

func (s *Server) listReleases(w http.ResponseWriter, r *http.Request) {
	if repo, content, ok := s.findContent(w, r); ok {
		writePage(s, w, r, content.Releases, func(x *Release) any { return viewRelease(repo, x) })
	}
}

func (s *Server) listTags(w http.ResponseWriter, r *http.Request) {
	if repo, content, ok := s.findContent(w, r); ok {
		writePage(s, w, r, content.Tags, func(name string) any {
			return map[string]any{
				"name": name, "node_id": "T_" + name, "commit": map[string]any{"sha": strings.Repeat("a", 40),
					"url": apiURL + "/repos/" + repo + "/commits/a"},
				"zipball_url": apiURL + "/z", "tarball_url": apiURL + "/t",
			}
		})
	}
}

func (s *Server) listStargazers(w http.ResponseWriter, r *http.Request) {
	if _, content, ok := s.findContent(w, r); ok {
		writePage(s, w, r, content.Stargazers, func(x Star) any {
			if r.Header.Get("Accept") != "application/vnd.github.star+json" {
				return s.viewAccount(x.Repo)
			}
			return map[string]any{"starred_at": formatTime(x.At), "user": s.viewAccount(x.Repo)}
		})
	}
}

func (s *Server) listFollowers(w http.ResponseWriter, r *http.Request) {
	if a, ok := s.requireAccount(w, r); ok {
		writePage(s, w, r, a.Followers, func(login string) any { return s.viewAccount(login) })
	}
}

func (s *Server) listNotifications(w http.ResponseWriter, r *http.Request) {
	a, ok := s.requireAccount(w, r)
	if !ok {
		return
	}
	since, _ := time.Parse(time.RFC3339, r.URL.Query().Get("since"))
	wanted := slices.DeleteFunc(slices.Clone(a.Notifications), func(n Notification) bool {
		return n.UpdatedAt.Before(since) || r.URL.Query().Get("all") != "true" && !n.Unread
	})
	w.Header().Set("X-Poll-Interval", "60")
	writePage(s, w, r, wanted, func(n Notification) any {
		return map[string]any{
			"id": n.ID, "unread": n.Unread, "reason": n.Reason, "updated_at": formatTime(n.UpdatedAt), "last_read_at": nil,
			"subject":    map[string]any{"title": n.Title, "url": n.SubjectURL, "latest_comment_url": n.SubjectURL, "type": n.Type},
			"repository": Repo{FullName: n.Repo}.viewRepo(), "url": apiURL + "/notifications/threads/" + n.ID,
			"subscription_url": apiURL + "/notifications/threads/" + n.ID + "/subscription",
		}
	})
}

func (s *Server) listEvents(w http.ResponseWriter, r *http.Request) {
	a, ok := s.requireAccount(w, r)
	if !ok {
		return
	}
	w.Header().Set("X-Poll-Interval", "60")
	writePage(s, w, r, a.Events, func(e Event) any {
		actor := s.viewAccount(e.Actor)
		payload := map[string]any{}
		switch e.Type {
		case "ForkEvent":
			fork := Repo{FullName: e.Fork}.viewRepo().(map[string]any)
			fork["html_url"] = "https://github.com/" + e.Fork
			payload["forkee"] = fork
		case "ReleaseEvent":
			payload["action"], payload["release"] = "published", viewRelease(e.Repo, &Release{ID: 1, Tag: e.Tag, Name: e.Tag, At: e.At})
		}
		return map[string]any{
			"id": e.ID, "type": e.Type, "public": true, "created_at": formatTime(e.At), "payload": payload,
			"actor": map[string]any{"id": actor["id"], "login": e.Actor, "gravatar_id": "", "avatar_url": actor["avatar_url"], "url": actor["url"]},
			"repo":  map[string]any{"id": 1, "name": e.Repo, "url": s.URL + "/repos/" + e.Repo},
		}
	})
}

func (s *Server) answerCompare(w http.ResponseWriter, r *http.Request) {
	repo, content, ok := s.findContent(w, r)
	if !ok {
		return
	}
	subjects, ok := content.Comparisons[r.PathValue("range")]
	if !ok {
		writeError(w, 404, "Not Found")
		return
	}
	commits := []any{}
	for i, subject := range subjects {
		commits = append(commits, viewCommit(repo, fmt.Sprintf("%040d", i), subject+"\n\nMore words."))
	}
	first := viewCommit(repo, strings.Repeat("0", 40), "Base")
	writeJSON(w, 200, withLinks(map[string]any{
		"status": "ahead", "ahead_by": len(subjects), "behind_by": 0, "total_commits": len(subjects), "commits": commits,
		"html_url": "https://github.com/" + repo + "/compare/" + r.PathValue("range"), "base_commit": first, "merge_base_commit": first,
		"files": []any{withLinks(map[string]any{
			"sha": strings.Repeat("b", 40), "filename": "main.go", "status": "modified", "additions": 3, "deletions": 1, "changes": 4,
			"patch": "@@ -1 +1 @@\n-a\n+b",
		}, apiURL+"/repos/"+repo+"/contents/main.go", "blob raw contents")},
	}, apiURL+"/repos/"+repo+"/compare/"+r.PathValue("range"), "permalink diff patch"))
}

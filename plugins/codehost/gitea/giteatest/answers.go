package giteatest

import (
	"encoding/hex"
	"hash/fnv"
	"net/http"
	"strings"
	"time"
)

// userID returns the id of an account.
func userID(login string) int64 {
	h := fnv.New32a()
	_, _ = h.Write([]byte(strings.ToLower(login)))
	return int64(h.Sum32()>>8) + 1
}

func (s *Server) viewUser(login string) map[string]any {
	return map[string]any{
		"id": userID(login), "login": login, "login_name": "", "source_id": 0, "full_name": "", "email": login + "@noreply.gitea.example",
		"avatar_url": "https://avatars.example.com/" + login,
		"html_url":   s.URL + "/" + login, "language": "", "is_admin": false, "last_login": formatTime(time.Time{}),
		"created": "2024-01-01T00:00:00Z", "restricted": false, "active": true,
		"prohibit_login": false, "location": "", "website": "", "description": "", "visibility": "public", "followers_count": 0,
		"following_count": 0, "starred_repos_count": 0, "username": login,
	}
}

func formatTime(t time.Time) string { return t.Format(time.RFC3339) }

func (s *Server) viewRepo(r *Repo) map[string]any {
	owner, name, _ := strings.Cut(r.FullName, "/")
	return map[string]any{
		"id": r.ID, "owner": s.viewUser(owner), "name": name, "full_name": r.FullName, "description": "About " + r.FullName, "empty": false,
		"private": r.Private, "fork": false, "template": false,
		"parent": nil, "mirror": false, "size": 42, "language": "Go", "html_url": s.URL + "/" + r.FullName,
		"url": s.URL + "/api/v1/repos/" + r.FullName, "original_url": "", "website": "",
		"stars_count": len(r.Stargazers), "forks_count": 0, "watchers_count": 1, "open_issues_count": 0, "open_pr_counter": 0,
		"release_counter": len(r.Releases), "default_branch": "main",
		"archived": r.Archived, "created_at": "2024-01-01T00:00:00Z", "updated_at": formatTime(r.UpdatedAt), "internal": false, "avatar_url": "",
		"has_releases": true,
	}
}

// findRepo returns a repository that a request may see. The caller holds the lock.
func (s *Server) findRepo(r *http.Request) *Repo {
	for _, repo := range s.repos {
		if strings.EqualFold(repo.FullName, r.PathValue("owner")+"/"+r.PathValue("name")) && s.maySee(r, repo) {
			return repo
		}
	}
	return nil
}

func (s *Server) maySee(r *http.Request, repo *Repo) bool {
	owner, _, _ := strings.Cut(repo.FullName, "/")
	return !repo.Private || strings.EqualFold(owner, s.loginFrom(r))
}

func answerUnauthorized() (any, int) { return refusalBody("token is required"), 401 }

func answerMissing() (any, int) { return refusalBody("The target couldn't be found."), 404 }

func (s *Server) answerUser(r *http.Request) (any, int) {
	login := s.loginFrom(r)
	if login == "" {
		return answerUnauthorized()
	}
	return s.viewUser(login), 200
}

// listRepos returns the repositories that match.
func (s *Server) listRepos(match func(*Repo) bool) (out []any, status int) {
	out = []any{}
	for _, repo := range s.repos {
		if match(repo) {
			out = append(out, s.viewRepo(repo))
		}
	}
	return out, 200
}

func (s *Server) answerOwnRepos(r *http.Request) (any, int) {
	login := s.loginFrom(r)
	if login == "" {
		return answerUnauthorized()
	}
	return s.listRepos(func(repo *Repo) bool { return strings.HasPrefix(repo.FullName, login+"/") })
}

func (s *Server) ofUser(r *http.Request) (any, int) {
	owner, known := r.PathValue("owner"), false
	for _, repo := range s.repos {
		known = known || strings.HasPrefix(strings.ToLower(repo.FullName), strings.ToLower(owner)+"/")
	}
	if !known {
		return answerMissing()
	}
	return s.listRepos(func(repo *Repo) bool {
		return strings.HasPrefix(strings.ToLower(repo.FullName), strings.ToLower(owner)+"/") && s.maySee(r, repo)
	})
}

// requestAccount returns what the account of a request has; nil without a token.
func (s *Server) requestAccount(r *http.Request) *Account {
	login := s.loginFrom(r)
	if login == "" {
		return nil
	}
	if s.accounts[login] == nil {
		s.accounts[login] = &Account{}
	}
	return s.accounts[login]
}

func (s *Server) answerStarred(r *http.Request) (any, int) {
	a := s.requestAccount(r)
	if a == nil {
		return answerUnauthorized()
	}
	out := []any{}
	for _, name := range a.Starred {
		for _, repo := range s.repos {
			if repo.FullName == name {
				out = append(out, s.viewRepo(repo))
			}
		}
	}
	return out, 200
}

func (s *Server) answerFollowers(r *http.Request) (any, int) {
	a := s.requestAccount(r)
	if a == nil {
		return answerUnauthorized()
	}
	out := []any{}
	for _, login := range a.Followers {
		out = append(out, s.viewUser(login))
	}
	return out, 200
}

func (s *Server) answerNotifications(r *http.Request) (any, int) {
	a := s.requestAccount(r)
	if a == nil {
		return answerUnauthorized()
	}
	since, _ := time.Parse(time.RFC3339, r.URL.Query().Get("since"))
	out := []any{}
	for _, n := range a.Notifications {
		if n.UpdatedAt.Before(since) || !n.Unread && r.URL.Query().Get("all") != "true" {
			continue
		}
		for _, repo := range s.repos {
			if repo.FullName == n.Repo {
				out = append(out, map[string]any{
					"id": n.ID, "repository": s.viewRepo(repo), "unread": n.Unread, "pinned": false, "updated_at": formatTime(n.UpdatedAt),
					"url": s.URL + "/api/v1/notifications/threads/1",
					"subject": map[string]any{
						"title": n.Title, "type": n.Type, "state": "open", "url": s.URL + "/api/v1/repos/" + n.Repo + "/issues/1",
						"html_url":           s.URL + "/" + n.Repo + "/issues/1",
						"latest_comment_url": "", "latest_comment_html_url": "",
					},
				})
			}
		}
	}
	return out, 200
}

func (s *Server) answerRepo(r *http.Request) (any, int) {
	if repo := s.findRepo(r); repo != nil {
		return s.viewRepo(repo), 200
	}
	return answerMissing()
}

func (s *Server) answerReleases(r *http.Request) (any, int) {
	repo := s.findRepo(r)
	if repo == nil {
		return answerMissing()
	}
	out := []any{}
	for _, release := range repo.Releases {
		if release.Draft && s.loginFrom(r) == "" {
			continue
		}
		owner, _, _ := strings.Cut(repo.FullName, "/")
		out = append(out, map[string]any{
			"id": release.ID, "tag_name": release.Tag, "target_commitish": "main", "name": release.Name, "body": release.Body,
			"url":      s.URL + "/api/v1/repos/" + repo.FullName + "/releases/1",
			"html_url": s.URL + "/" + repo.FullName + "/releases/tag/" + release.Tag, "tarball_url": "", "zipball_url": "", "upload_url": "",
			"draft": release.Draft, "prerelease": release.Prerelease,
			"created_at": formatTime(release.At), "published_at": formatTime(release.At), "author": s.viewUser(owner), "assets": []any{},
		})
	}
	return out, 200
}

// hashText returns the hash of a commit.
func hashText(text string) string {
	h := fnv.New128a()
	_, _ = h.Write([]byte(text))
	return hex.EncodeToString(h.Sum(nil)) + "00000000"
}

func (s *Server) answerTags(r *http.Request) (any, int) {
	repo := s.findRepo(r)
	if repo == nil {
		return answerMissing()
	}
	out := []any{}
	for _, tag := range repo.Tags {
		out = append(out, map[string]any{
			"name": tag.Name, "message": "", "id": hashText(tag.Name), "zipball_url": "", "tarball_url": "",
			"commit": map[string]any{"url": s.URL + "/api/v1/repos/" + repo.FullName + "/git/commits/1", "sha": hashText(tag.Name),
				"created": formatTime(tag.At)},
		})
	}
	return out, 200
}

func (s *Server) answerStargazers(r *http.Request) (any, int) {
	repo := s.findRepo(r)
	if repo == nil {
		return answerMissing()
	}
	out := []any{}
	for _, login := range repo.Stargazers {
		out = append(out, s.viewUser(login))
	}
	return out, 200
}

func (s *Server) answerCompare(r *http.Request) (any, int) {
	repo := s.findRepo(r)
	if repo == nil {
		return answerMissing()
	}
	messages, ok := repo.Commits[r.PathValue("range")]
	if !ok {
		return answerMissing()
	}
	commits := []any{}
	for _, message := range messages {
		commits = append(commits, map[string]any{"url": "", "sha": hashText(message), "html_url": "", "created": "2024-01-01T00:00:00Z",
			"commit": map[string]any{"message": message}})
	}
	return map[string]any{"total_commits": len(commits), "commits": commits}, 200
}

package githubtest

import (
	"fmt"
	"maps"
	"net/url"
	"strings"
	"time"
)

// apiURL is where the answers place the objects of the API.
const apiURL = "https://api.github.com"

// withLinks returns the members of object and, for each name, a member name_url with the address of that part of what is at base.
func withLinks(object map[string]any, base, names string) map[string]any {
	object["url"] = base
	for name := range strings.FieldsSeq(names) {
		object[name+"_url"] = base + "/" + name
	}
	return object
}

// viewRepo returns a repository as lists and its own page show it.
func (r Repo) viewRepo() any {
	visibility := "public"
	if r.Private {
		visibility = "private"
	}
	_, name, _ := strings.Cut(r.FullName, "/")
	web, pushed := "https://github.com/"+r.FullName, formatTime(r.PushedAt)
	out := withLinks(map[string]any{
		"id": r.ID, "node_id": fmt.Sprintf("R_%d", r.ID), "name": name, "full_name": r.FullName, "private": r.Private, "visibility": visibility,
		"archived": r.Archived, "disabled": false,
		"description": "About " + r.FullName, "html_url": web, "fork": false, "owner": viewUser(99, r.ownerLogin()), "default_branch": "main",
		"homepage": nil, "language": "Go", "license": nil,
		"created_at": pushed, "pushed_at": pushed, "updated_at": pushed, "stargazers_count": r.stars, "watchers": r.stars,
		"watchers_count": r.stars, "subscribers_count": 2, "network_count": 0, "forks": 0,
		"forks_count": 0, "open_issues": 0, "open_issues_count": 0, "size": 12,
		"clone_url": web + ".git", "git_url": "git://github.com/" + r.FullName + ".git", "ssh_url": "git@github.com:" + r.FullName + ".git",
		"svn_url": web, "mirror_url": nil,
	}, apiURL+"/repos/"+r.FullName, "archive assignees blobs branches collaborators comments commits compare contents contributors deployments downloads events forks git_commits git_refs git_tags "+
		"hooks issue_comment issue_events issues keys labels languages merges milestones notifications pulls releases stargazers statuses subscribers subscription tags teams trees")
	for feature := range strings.FieldsSeq("downloads issues projects wiki pages discussions") {
		out["has_"+feature] = feature != "pages"
	}
	return out
}

// viewUser returns an account as other objects show it.
func viewUser(id int64, login string) map[string]any {
	return withLinks(map[string]any{
		"id": id, "login": login, "node_id": "U_" + login, "type": "User", "user_view_type": "public", "site_admin": false, "gravatar_id": "",
		"avatar_url": "https://avatars.example.com/" + login, "html_url": "https://github.com/" + login,
	}, apiURL+"/users/"+login, "events followers following gists organizations received_events repos starred subscriptions")
}

// viewViewer returns an account as it sees itself.
func viewViewer(id int64, login string) map[string]any {
	out := viewUser(id, login)
	maps.Copy(out, map[string]any{
		"user_view_type": "private", "bio": nil, "blog": "", "company": nil, "email": nil, "hireable": nil, "location": nil, "name": nil,
		"created_at": formatTime(time.Time{}),
		"updated_at": formatTime(time.Time{}), "followers": 0, "following": 0, "public_gists": 0, "public_repos": 0, "collaborators": 0,
		"disk_usage": 0, "owned_private_repos": 0, "private_gists": 0,
		"total_private_repos": 0, "two_factor_authentication": true,
	})
	return out
}

// viewRelease returns a release of a repository.
func viewRelease(repo string, r *Release) map[string]any {
	base := fmt.Sprintf("%s/repos/%s/releases/%d", apiURL, repo, r.ID)
	counts := map[string]any{"url": base + "/reactions"}
	total := 0
	for word, key := range reactionKeys {
		counts[key] = len(r.Reactions[word])
		total += len(r.Reactions[word])
	}
	counts["total_count"] = total
	owner, _, _ := strings.Cut(repo, "/")
	return withLinks(map[string]any{
		"id": r.ID, "node_id": r.NodeID(), "tag_name": r.Tag, "target_commitish": "main", "name": r.Name, "body": r.Body, "draft": false,
		"prerelease": r.Prerelease,
		"created_at": formatTime(r.At), "published_at": formatTime(r.At), "author": viewUser(99, owner), "assets": []any{}, "reactions": counts,
		"html_url": "https://github.com/" + repo + "/releases/tag/" + url.PathEscape(r.Tag),
	}, base, "assets upload tarball zipball")
}

// viewCommit returns a commit of a repository.
func viewCommit(repo, sha, message string) map[string]any {
	signature := map[string]any{"name": "Ada", "email": "ada@example.com", "date": formatTime(time.Time{})}
	base := apiURL + "/repos/" + repo + "/commits/" + sha
	return withLinks(map[string]any{
		"sha": sha, "node_id": "C_" + sha, "html_url": "https://github.com/" + repo + "/commit/" + sha, "author": nil, "committer": nil,
		"parents": []any{},
		"commit": map[string]any{
			"url": base, "author": signature, "committer": signature, "message": message, "comment_count": 0,
			"tree": map[string]any{"sha": sha, "url": apiURL + "/repos/" + repo + "/git/trees/" + sha},
		},
	}, base, "comments")
}

func formatTime(t time.Time) string { return t.UTC().Format(time.RFC3339) }

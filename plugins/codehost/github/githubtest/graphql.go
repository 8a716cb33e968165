package githubtest

import (
	"encoding/base64"
	"net/http"
	"slices"
	"sort"
	"strconv"
	"strings"
)

// Query is a request to the GraphQL API.
type Query struct {
	Text      string         `json:"query"`
	Variables map[string]any `json:"variables"`
}

// Queries are the requests to the GraphQL API so far.
func (s *state) Queries() []Query {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.queries)
}

// answerGraphQL answers the queries that the double knows, by what they ask for, and refuses others.
func (s *Server) answerGraphQL(w http.ResponseWriter, r *http.Request) {
	var in Query
	if _, ok := s.requireAccount(w, r); !ok {
		return
	}
	if !decodeBody(r, &in) {
		writeError(w, 400, "Problems parsing JSON")
		return
	}
	s.mu.Lock()
	s.queries = append(s.queries, in)
	s.mu.Unlock()
	for text, answer := range map[string]func(string, string, map[string]any) (any, []any){
		"starredRepositories(": s.queryStarred, "repositories(first": s.queryOwned, "nodes(ids": s.queryReactions,
		"addReaction(":    s.mutateReaction,
		"removeReaction(": s.mutateReaction, "discussionCategories(": s.queryCategories, "discussions(first": s.queryDiscussions,
	} {
		if strings.Contains(in.Text, text) {
			data, errors := answer(s.loginFrom(r), in.Text, in.Variables)
			body := map[string]any{"data": data}
			if len(errors) > 0 {
				body["errors"] = errors
			}
			writeJSON(w, 200, body)
			return
		}
	}
	writeJSON(w, 200, map[string]any{"errors": []any{map[string]any{"message": "Field does not exist"}}})
}

// cutConnection returns the part of a list that $first and $after ask for.
func cutConnection(variables map[string]any, all []any) (items []any, pageInfo map[string]any) {
	from := 0
	if after, ok := variables["after"].(string); ok {
		raw, _ := base64.StdEncoding.DecodeString(after)
		from, _ = strconv.Atoi(strings.TrimPrefix(string(raw), "cursor:"))
	}
	first, _ := variables["first"].(float64)
	to := min(from+int(first), len(all))
	end := base64.StdEncoding.EncodeToString([]byte("cursor:" + strconv.Itoa(to)))
	return all[min(from, to):to], map[string]any{"hasNextPage": to < len(all), "endCursor": end}
}

func (s *Server) actorNode(login string) map[string]any {
	u := s.viewAccount(login)
	return map[string]any{"databaseId": u["id"], "login": login, "url": u["html_url"], "avatarUrl": u["avatar_url"]}
}

// repoNode returns a repository; nil if there is none of that name.
func (s *Server) repoNode(name string) any {
	s.mu.Lock()
	i := slices.IndexFunc(s.repos, func(r Repo) bool { return strings.EqualFold(r.FullName, name) })
	var repo Repo
	if i >= 0 {
		repo = s.repos[i]
		repo.stars = len(s.Content(repo.FullName).Stargazers)
	}
	s.mu.Unlock()
	if i < 0 {
		return nil
	}
	return map[string]any{
		"databaseId": repo.ID, "nameWithOwner": repo.FullName, "description": "About " + repo.FullName,
		"url":       "https://github.com/" + repo.FullName,
		"isPrivate": repo.Private, "isArchived": repo.Archived, "isFork": false, "stargazerCount": repo.stars,
		"owner":             s.actorNode(repo.ownerLogin()),
		"openGraphImageUrl": "https://images.example.com/" + repo.FullName, "usesCustomOpenGraphImage": true,
	}
}

func (s *Server) queryStarred(login, _ string, variables map[string]any) (any, []any) {
	s.mu.Lock()
	stars := slices.Clone(s.Account(login).Starred)
	s.mu.Unlock()
	sort.SliceStable(stars, func(i, j int) bool { return stars[i].At.After(stars[j].At) })
	var edges []any
	for _, star := range stars {
		edges = append(edges, map[string]any{"starredAt": formatTime(star.At), "node": s.repoNode(star.Repo)})
	}
	items, info := cutConnection(variables, edges)
	return map[string]any{"viewer": map[string]any{"starredRepositories": map[string]any{"pageInfo": info, "edges": items}}}, nil
}

func (s *Server) queryOwned(login, _ string, variables map[string]any) (any, []any) {
	var names []string
	s.mu.Lock()
	for _, r := range s.repos {
		if strings.EqualFold(r.ownerLogin(), login) {
			names = append(names, r.FullName)
		}
	}
	s.mu.Unlock()
	var nodes []any
	for _, name := range names {
		nodes = append(nodes, s.repoNode(name))
	}
	items, info := cutConnection(variables, nodes)
	return map[string]any{"viewer": map[string]any{"repositories": map[string]any{"pageInfo": info, "nodes": items}}}, nil
}

// findRelease returns a release by its node id. The caller holds the lock.
func (s *state) findRelease(nodeID string) *Release {
	for _, c := range s.content {
		for _, r := range c.Releases {
			if r.NodeID() == nodeID {
				return r
			}
		}
	}
	return nil
}

// reactionNode returns the reactions to a release. The caller holds the lock.
func reactionNode(r *Release, login string) map[string]any {
	groups := []any{}
	for word := range reactionKeys {
		groups = append(groups, map[string]any{
			"content": word, "viewerHasReacted": slices.Contains(r.Reactions[word], login),
			"reactors": map[string]any{"totalCount": len(r.Reactions[word])},
		})
	}
	return map[string]any{"id": r.NodeID(), "reactionGroups": groups}
}

func notFound(what string) []any {
	return []any{map[string]any{"type": "NOT_FOUND", "message": "Could not resolve to a node with the global id of '" + what + "'"}}
}

func (s *Server) queryReactions(login, _ string, variables map[string]any) (any, []any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	ids, _ := variables["ids"].([]any)
	nodes, problems := []any{}, []any{}
	for _, id := range ids {
		if r := s.findRelease(id.(string)); r != nil {
			nodes = append(nodes, reactionNode(r, login))
			continue
		}
		nodes = append(nodes, nil)
		problems = append(problems, notFound(id.(string))...)
	}
	return map[string]any{"nodes": nodes}, problems
}

func (s *Server) mutateReaction(login, query string, variables map[string]any) (any, []any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	input, _ := variables["input"].(map[string]any)
	id, _ := input["subjectId"].(string)
	word, _ := input["content"].(string)
	r := s.findRelease(id)
	if r == nil {
		return nil, notFound(id)
	}
	left := slices.DeleteFunc(slices.Clone(r.Reactions[word]), func(l string) bool { return l == login })
	if strings.Contains(query, "addReaction(") {
		left = append(left, login)
	} else if len(left) == len(r.Reactions[word]) {
		return nil, notFound(id)
	}
	if r.Reactions == nil {
		r.Reactions = map[string][]string{}
	}
	r.Reactions[word] = left
	return map[string]any{"change": map[string]any{"subject": reactionNode(r, login)}}, nil
}

// eachRepository answers a query for several repositories under the aliases r0 to r19.
func (s *Server) eachRepository(query string, variables map[string]any,
	view func(repo string, c *Content, i string) map[string]any) (any, []any) {
	data, problems := map[string]any{}, []any{}
	for i := range 20 {
		n := strconv.Itoa(i)
		owner, _ := variables["owner"+n].(string)
		name, _ := variables["name"+n].(string)
		if !strings.Contains(query, "r"+n+": repository(") {
			continue
		}
		if s.repoNode(owner+"/"+name) == nil {
			data["r"+n] = nil
			problems = append(problems, notFound(owner+"/"+name)...)
			continue
		}
		s.mu.Lock()
		content := *s.Content(owner + "/" + name)
		s.mu.Unlock()
		data["r"+n] = view(owner+"/"+name, &content, n)
	}
	return data, problems
}

func (s *Server) queryCategories(_, query string, variables map[string]any) (any, []any) {
	return s.eachRepository(query, variables, func(repo string, c *Content, _ string) map[string]any {
		nodes := []any{map[string]any{"id": "C_general", "slug": "general", "name": "General"}}
		for _, d := range c.Discussions {
			nodes = append(nodes, map[string]any{"id": "C_" + d.Category, "slug": d.Category, "name": d.Category})
		}
		return map[string]any{"nameWithOwner": repo, "discussionCategories": map[string]any{"nodes": nodes}}
	})
}

func (s *Server) queryDiscussions(_, query string, variables map[string]any) (any, []any) {
	return s.eachRepository(query, variables, func(repo string, c *Content, i string) map[string]any {
		nodes := []any{}
		for _, d := range c.Discussions {
			if variables["category"+i] != "C_"+d.Category {
				continue
			}
			var author any
			if d.Author != "" {
				author = s.actorNode(d.Author)
			}
			nodes = append(nodes, map[string]any{
				"id": d.ID, "title": d.Title, "body": d.Body, "url": "https://github.com/" + repo + "/discussions/1", "createdAt": formatTime(d.At),
				"updatedAt": formatTime(d.At), "author": author,
			})
		}
		return map[string]any{"nameWithOwner": repo, "discussions": map[string]any{"nodes": nodes}}
	})
}

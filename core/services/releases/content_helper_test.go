package releases_test

import (
	"fmt"
	"strconv"
	"time"

	"github.com/patchbay-dev/patchbay/core/internal/testing/fake"
	"github.com/patchbay-dev/patchbay/sdk/codehost"
)

// fullInterval is longer than that at which repositories are read.
const fullInterval = 2 * time.Hour

var day = time.Date(2026, 2, 28, 0, 0, 0, 0, time.UTC)

// addRepo puts a repository with releases v1.0.0, v1.1.0, … into the code host, published an hour apart from a time on.
func (s *server) addRepo(name string, from time.Time, count int) codehost.Repository {
	owner, _, _ := cutName(name)
	r := codehost.Repository{
		ID: "id-" + name, FullName: name, Description: "About " + name, HTMLURL: "https://codehost.example/" + name, Stars: 1,
		Owner: codehost.Account{Login: owner, AvatarURL: "https://avatars.example.com/" + owner},
	}
	s.host.Change(name, func(c *fake.CodeHostContent) {
		c.Repository = &r
		for i := range count {
			c.Releases = append([]codehost.Release{newRelease(name, i, from.Add(time.Duration(i)*time.Hour))}, c.Releases...)
		}
	})
	return r
}

func newRelease(name string, i int, at time.Time) codehost.Release {
	tag := fmt.Sprintf("v1.%d.0", i)
	return codehost.Release{
		ID: name + "/" + strconv.Itoa(i), NodeID: "node-" + name + strconv.Itoa(i), TagName: tag, Name: name + " " + tag,
		Body:    "## Changes\r\n\r\nNumber " + strconv.Itoa(i),
		HTMLURL: "https://codehost.example/" + name + "/releases/tag/" + tag, PublishedAt: at, Reactions: map[string]int64{"heart": int64(i)},
	}
}

func cutName(name string) (owner, rest string, ok bool) {
	for i := range name {
		if name[i] == '/' {
			return name[:i], name[i+1:], true
		}
	}
	return name, "", false
}

// publish adds a release to a repository.
func (s *server) publish(name string, r codehost.Release) {
	s.host.Change(name, func(c *fake.CodeHostContent) { c.Releases = append([]codehost.Release{r}, c.Releases...) })
}

// star has an account star a repository.
func (s *server) star(login string, r codehost.Repository, at time.Time) {
	s.host.Change(login, func(c *fake.CodeHostContent) {
		c.Starred = append([]codehost.Starred{{Repository: r, StarredAt: at}}, c.Starred...)
	})
}

// countCalls counts the calls of a method.
func (s *server) countCalls(method string) (n int) {
	for _, c := range s.host.Calls() {
		if c.Method == method {
			n++
		}
	}
	return n
}

package compose

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/patchbay-dev/patchbay/core/secret"
)

// FileText is a compose file for reading, without secrets.
type FileText struct {
	Path  string
	Lines []string
	// Err says why it cannot be shown; nil if it can.
	Err error
}

// ReadTexts returns the compose files of src as they are written, under the rule of Load. Values with the name of a secret,
// and passwords in URLs, are left out.
func ReadTexts(src Source) []FileText {
	a := newAccess(src.WorkingDir, src.Roots)
	out := make([]FileText, len(src.Files))
	for i, path := range src.Files {
		out[i].Path = path
		text, err := a.readCompose(path)
		if err == nil {
			out[i].Lines, err = redactText(text)
		}
		out[i].Err = err
	}
	return out
}

var (
	// urlPassword matches the password in a URL.
	urlPassword = regexp.MustCompile(`(://[^:/@\s"']*:)[^@/\s"']+@`)
)

// redactor finds the lines of a file in which secrets stand.
type redactor struct {
	// cuts has, by line, the column at which the rest of it goes. starts are the lines on which something begins.
	cuts   map[int]int
	starts []int
}

// redactText returns the lines of a compose file without secrets.
func redactText(text []byte) ([]string, error) {
	r := redactor{cuts: map[int]int{}}
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	for {
		var doc yaml.Node
		if err := decoder.Decode(&doc); err != nil {
			break
		}
		r.walkNode(&doc, false)
	}
	if len(r.starts) == 0 {
		return nil, fmt.Errorf("the file is no YAML document")
	}
	slices.Sort(r.starts)
	var out []string
	end := 0
	for i, line := range strings.Split(strings.TrimRight(string(text), "\n"), "\n") {
		n := i + 1
		if n < end {
			continue
		}
		line = strings.TrimSuffix(line, "\r")
		if column := r.cuts[n]; column > 0 && column-1 <= len(line) {
			line, end = line[:column-1]+secret.Redacted, r.nextStart(n)
		}
		line = urlPassword.ReplaceAllString(line, "${1}"+secret.Redacted+"@")
		out = append(out, secret.RedactAssignments(line))
	}
	return out, nil
}

// nextStart returns the first line after n on which something else begins; a secret may have several lines.
func (r *redactor) nextStart(n int) int {
	i, _ := slices.BinarySearch(r.starts, n+1)
	if i == len(r.starts) {
		return 1 << 30
	}
	return r.starts[i]
}

// walkNode goes through a document. Within the value of a secret everything is one.
func (r *redactor) walkNode(n *yaml.Node, isSecret bool) {
	if n.Line > 0 {
		r.starts = append(r.starts, n.Line)
	}
	switch n.Kind {
	case yaml.MappingNode:
		for i := 0; i+1 < len(n.Content); i += 2 {
			key := n.Content[i]
			r.walkNode(key, false)
			r.walkNode(n.Content[i+1], isSecret || secret.NamesSecret(key.Value) && n.Content[i+1].Kind != yaml.MappingNode &&
				n.Content[i+1].Kind != yaml.SequenceNode)
		}
	case yaml.AliasNode:
		if isSecret {
			r.cutValue(n.Alias, 0)
		}
	case yaml.ScalarNode:
		name, _, assigned := strings.Cut(n.Value, "=")
		switch {
		case isSecret && n.Value != "":
			r.cutValue(n, 0)
		case assigned && secret.NamesSecret(name) && !strings.ContainsAny(name, " /"):
			r.cutValue(n, len(name)+1)
		}
	default:
		for _, child := range n.Content {
			r.walkNode(child, isSecret)
		}
	}
}

// cutValue leaves the value of a node out, but for its first characters.
func (r *redactor) cutValue(n *yaml.Node, keep int) {
	column := n.Column
	if keep > 0 {
		column += keep
		if n.Style&(yaml.DoubleQuotedStyle|yaml.SingleQuotedStyle) != 0 {
			column++
		}
	}
	if was := r.cuts[n.Line]; was == 0 || column < was {
		r.cuts[n.Line] = column
	}
}

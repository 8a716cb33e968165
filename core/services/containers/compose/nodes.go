package compose

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"go.yaml.in/yaml/v3"
)

// parseNodes reads the documents of a YAML file without following aliases, and refuses what would become very large
// when they are followed.
func parseNodes(text []byte) (docs []*yaml.Node, err error) {
	defer func() {
		if p := recover(); p != nil {
			docs, err = nil, errors.New("the file cannot be read as YAML")
		}
	}()
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	count := counter{anchors: map[*yaml.Node]extent{}}
	for {
		var doc yaml.Node
		err := decoder.Decode(&doc)
		if errors.Is(err, io.EOF) {
			return docs, nil
		}
		if err != nil {
			return nil, yamlError(err)
		}
		if len(doc.Content) != 1 {
			continue
		}
		if _, err := count.countNode(&doc); err != nil {
			return nil, err
		}
		docs = append(docs, doc.Content[0])
	}
}

// counter counts values as they are when every alias is followed.
type counter struct {
	anchors map[*yaml.Node]extent // zero while one is being counted
}

// extent is how many values a node has, itself among them, and how deep they are nested.
type extent struct{ size, height int }

func (c *counter) countNode(n *yaml.Node) (extent, error) {
	if n.Kind == yaml.AliasNode {
		return c.countAlias(n.Alias)
	}
	if n.Kind == yaml.ScalarNode {
		return extent{1, 1}, checkText(n.Value)
	}
	total := extent{size: 1}
	for _, child := range n.Content {
		e, err := c.countNode(child)
		if err != nil {
			return extent{}, err
		}
		total.size += e.size
		total.height = max(total.height, e.height)
		switch {
		case total.size > maxNodes:
			return extent{}, fmt.Errorf("there are more than %d values", maxNodes)
		case total.height > maxDepth:
			return extent{}, fmt.Errorf("values are nested deeper than %d", maxDepth)
		}
	}
	total.height++
	return total, nil
}

func (c *counter) countAlias(n *yaml.Node) (extent, error) {
	if known, seen := c.anchors[n]; seen {
		if known.size == 0 {
			return extent{}, errors.New("an alias stands within itself")
		}
		return known, nil
	}
	c.anchors[n] = extent{}
	e, err := c.countNode(n)
	c.anchors[n] = e
	return e, err
}

// findField finds a member of a mapping, through aliases; nil without one.
func findField(n *yaml.Node, name string) *yaml.Node {
	_, value := findMember(n, name)
	return value
}

// findMember is field with the key.
func findMember(n *yaml.Node, name string) (key, value *yaml.Node) {
	n = followAlias(n)
	if n == nil || n.Kind != yaml.MappingNode {
		return nil, nil
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == name {
			return n.Content[i], followAlias(n.Content[i+1])
		}
	}
	return nil, nil
}

func followAlias(n *yaml.Node) *yaml.Node {
	if n != nil && n.Kind == yaml.AliasNode {
		return n.Alias
	}
	return n
}

// textValues are the scalars of a scalar or a sequence.
func textValues(n *yaml.Node) (out []string) {
	n = followAlias(n)
	switch {
	case n == nil:
	case n.Kind == yaml.ScalarNode && n.Value != "":
		out = append(out, n.Value)
	case n.Kind == yaml.SequenceNode:
		for _, item := range n.Content {
			if item = followAlias(item); item.Kind == yaml.ScalarNode && item.Value != "" {
				out = append(out, item.Value)
			}
		}
	}
	return out
}

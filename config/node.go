package config

import (
	"encoding/json"

	"github.com/hashicorp/hcl/v2"

	"github.com/patchbay-dev/patchbay/sdk/schema"
)

// node is a decoded block, with a value or group for each attribute and block of its schema.
type node struct {
	schema *schema.Schema
	// def is the block's header; its Line is 0 if the block is not written.
	def    Range
	values []*value
	groups []*group
}

// value is the decoded value of one attribute, with its origin.
type value struct {
	attr *schema.Attribute
	// data is the value as encoding/json takes it, nil if there is none.
	data      any
	sensitive bool
	origin    string
	// expr is the expression in the file, nil if the value came from elsewhere.
	expr hcl.Expression
	at   Range
}

// group holds the blocks of one type.
type group struct {
	block *schema.Block
	items []item
}

// item is one block of a group; the label is that of a block in a map.
type item struct {
	label string
	node  *node
}

func (n *node) findValue(name string) *value {
	for _, v := range n.values {
		if v.attr.Name == name {
			return v
		}
	}
	return nil
}

func (n *node) findGroup(name string) *group {
	for _, g := range n.groups {
		if g.block.Name == name {
			return g
		}
	}
	return nil
}

// encodeJSON returns the JSON that schema.Decode reads. Members are sorted, so that equal configurations give equal bytes.
func (n *node) encodeJSON() ([]byte, error) { return json.Marshal(n.asObject()) }

func (n *node) asObject() map[string]any {
	out := map[string]any{}
	for _, v := range n.values {
		out[v.attr.Name] = v.data
	}
	for _, g := range n.groups {
		out[g.block.Name] = g.encodeValue()
	}
	return out
}

func (g *group) encodeValue() any {
	switch g.block.Nesting {
	case schema.List:
		list := make([]any, len(g.items))
		for i, it := range g.items {
			list[i] = it.node.asObject()
		}
		return list
	case schema.Map:
		m := make(map[string]any, len(g.items))
		for _, it := range g.items {
			m[it.label] = it.node.asObject()
		}
		return m
	}
	if len(g.items) == 0 {
		return nil
	}
	return g.items[0].node.asObject()
}

// walkValues calls visit for every value of the block and of the blocks in it, with its path appended to path.
func (n *node) walkValues(path schema.Path, visit func(schema.Path, *value)) {
	for _, v := range n.values {
		visit(path.Attr(v.attr.Name), v)
	}
	for _, g := range n.groups {
		for i, it := range g.items {
			it.node.walkValues(g.itemPath(path, i), visit)
		}
	}
}

// itemPath returns the path of the i-th block of the group.
func (g *group) itemPath(parent schema.Path, i int) schema.Path {
	p := parent.Attr(g.block.Name)
	switch g.block.Nesting {
	case schema.List:
		return p.Index(i)
	case schema.Map:
		return p.Key(g.items[i].label)
	}
	return p
}

// sensitiveStrings returns the sensitive strings of the block and of the blocks in it.
func (n *node) sensitiveStrings() []string {
	var out []string
	n.walkValues(nil, func(_ schema.Path, v *value) {
		if v.sensitive {
			out = append(out, collectStrings(v.data)...)
		}
	})
	return out
}

func collectStrings(data any) []string {
	switch data := data.(type) {
	case string:
		return []string{data}
	case []string:
		return data
	case map[string]string:
		var out []string
		for _, v := range data {
			out = append(out, v)
		}
		return out
	}
	return nil
}

package config

import (
	"encoding/json"

	"github.com/hashicorp/hcl/v2"

	"github.com/patchbay-dev/patchbay/sdk/schema"
)

// node is a decoded block: for each attribute and block of its schema what was found.
type node struct {
	schema *schema.Schema
	// def is the block's header; its Line is 0 if the block is not written.
	def    Range
	values []*value
	groups []*group
}

// value is what one attribute has come to.
type value struct {
	attr *schema.Attribute
	// data is what encoding/json makes the value's JSON of; nil if there is no value.
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

func (n *node) value(name string) *value {
	for _, v := range n.values {
		if v.attr.Name == name {
			return v
		}
	}
	return nil
}

func (n *node) group(name string) *group {
	for _, g := range n.groups {
		if g.block.Name == name {
			return g
		}
	}
	return nil
}

// encode returns the JSON that schema.Decode reads. Members are sorted, so equal configurations have equal bytes.
func (n *node) encode() ([]byte, error) { return json.Marshal(n.object()) }

func (n *node) object() map[string]any {
	out := map[string]any{}
	for _, v := range n.values {
		out[v.attr.Name] = v.data
	}
	for _, g := range n.groups {
		out[g.block.Name] = g.data()
	}
	return out
}

func (g *group) data() any {
	switch g.block.Nesting {
	case schema.List:
		list := make([]any, len(g.items))
		for i, it := range g.items {
			list[i] = it.node.object()
		}
		return list
	case schema.Map:
		m := make(map[string]any, len(g.items))
		for _, it := range g.items {
			m[it.label] = it.node.object()
		}
		return m
	}
	if len(g.items) == 0 {
		return nil
	}
	return g.items[0].node.object()
}

// walk calls visit for every value, with its path from this block.
func (n *node) walk(path schema.Path, visit func(schema.Path, *value)) {
	for _, v := range n.values {
		visit(path.Attr(v.attr.Name), v)
	}
	for _, g := range n.groups {
		for i, it := range g.items {
			it.node.walk(g.path(path, i), visit)
		}
	}
}

// path leads to the i-th block of the group.
func (g *group) path(parent schema.Path, i int) schema.Path {
	p := parent.Attr(g.block.Name)
	switch g.block.Nesting {
	case schema.List:
		return p.Index(i)
	case schema.Map:
		return p.Key(g.items[i].label)
	}
	return p
}

// secrets collects the sensitive strings below the block.
func (n *node) secrets() []string {
	var out []string
	n.walk(nil, func(_ schema.Path, v *value) {
		if v.sensitive {
			out = append(out, stringsIn(v.data)...)
		}
	})
	return out
}

func stringsIn(data any) []string {
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

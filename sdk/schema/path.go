package schema

import (
	"strconv"
	"strings"
)

// StepKind tells what a Step selects by.
type StepKind int

const (
	// StepAttribute selects an attribute or a block by Name.
	StepAttribute StepKind = iota + 1
	// StepIndex selects an element of a list or one of repeated blocks by Index, from 0.
	StepIndex
	// StepKey selects a member of a map or a labelled block by Name.
	StepKey
)

// Step is one step of a Path.
type Step struct {
	Kind  StepKind
	Name  string
	Index int
}

// Path leads to a value inside a configuration block. The empty path is the block itself.
type Path []Step

// At starts a path with an attribute or a block.
func At(name string) Path { return Path{{Kind: StepAttribute, Name: name}} }

// Attr continues with an attribute or a block.
func (p Path) Attr(name string) Path { return p.withStep(Step{Kind: StepAttribute, Name: name}) }

// Index continues with an element of a list, or with one of repeated blocks.
func (p Path) Index(i int) Path { return p.withStep(Step{Kind: StepIndex, Index: i}) }

// Key continues with a member of a map, or with a labelled block.
func (p Path) Key(key string) Path { return p.withStep(Step{Kind: StepKey, Name: key}) }

// withStep copies, so that two paths with a common beginning never share memory.
func (p Path) withStep(s Step) Path {
	out := make(Path, len(p), len(p)+1)
	copy(out, p)
	return append(out, s)
}

// String writes the path as in feeds[0].headers["x"].
func (p Path) String() string {
	var b strings.Builder
	for i, s := range p {
		switch s.Kind {
		case StepIndex:
			b.WriteString("[" + strconv.Itoa(s.Index) + "]")
		case StepKey:
			b.WriteString("[" + strconv.Quote(s.Name) + "]")
		default:
			if i > 0 {
				b.WriteByte('.')
			}
			b.WriteString(s.Name)
		}
	}
	return b.String()
}

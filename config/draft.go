package config

import (
	"bytes"
	"errors"
	"fmt"
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/hashicorp/hcl/v2/hclwrite"
)

// Draft is the text of a plugin.hcl that is being edited. Comments, the order of blocks and everything that an edit is not about
// stay as they are written. After an error the draft is as it was before the edit.
type Draft struct {
	name string
	text []byte
	crlf bool
}

// ErrNotEditable is in the chain of the error about a text that cannot be edited: it has syntax errors, or it is in JSON syntax.
var ErrNotEditable = errors.New("the configuration file cannot be edited")

// NewDraft returns a draft of a text. path is that of the file, whose ending tells the syntax.
func NewDraft(path string, text []byte) (*Draft, error) {
	if isJSON(path) {
		return nil, fmt.Errorf("%w: it is in HCL's JSON syntax", ErrNotEditable)
	}
	d := &Draft{name: path, text: slices.Clone(text)}
	// Edits write line feeds alone; Bytes puts the file's own ends of lines back.
	if d.crlf = bytes.Count(text, []byte("\r\n")) > 0 && bytes.Count(text, []byte("\r\n")) == bytes.Count(text, []byte("\n")); d.crlf {
		d.text = bytes.ReplaceAll(d.text, []byte("\r\n"), []byte("\n"))
	}
	if _, err := d.parse(); err != nil {
		return nil, err
	}
	if n := len(d.text); n > 0 && d.text[n-1] != '\n' {
		d.text = append(d.text, '\n')
	}
	return d, nil
}

// Bytes returns the text with the edits.
func (d *Draft) Bytes() []byte {
	if d.crlf {
		return bytes.ReplaceAll(d.text, []byte("\n"), []byte("\r\n"))
	}
	return slices.Clone(d.text)
}

// parse returns the blocks of the text with their places.
func (d *Draft) parse() (*hclsyntax.Body, error) {
	file, found := hclsyntax.ParseConfig(d.text, d.name, hcl.InitialPos)
	if found.HasErrors() {
		return nil, fmt.Errorf("%w: it has syntax errors", ErrNotEditable)
	}
	return file.Body.(*hclsyntax.Body), nil
}

// replaceText makes a text the draft's, unless it does not parse.
func (d *Draft) replaceText(text []byte) error {
	next := &Draft{name: d.name, text: text}
	if _, err := next.parse(); err != nil {
		return fmt.Errorf("edit %s: %w", d.name, err)
	}
	d.text = text
	return nil
}

// blockName tells a block by its type and its labels.
type blockName struct {
	kind   string
	labels []string
}

// matches reports whether a block has the type and the labels. An empty label stands for any.
func (n blockName) matches(b *hclsyntax.Block) bool {
	if b.Type != n.kind || len(b.Labels) != len(n.labels) {
		return false
	}
	for i, want := range n.labels {
		if want != "" && want != b.Labels[i] {
			return false
		}
	}
	return true
}

// findBlock returns the first block of a body that has the name, or nil.
func findBlock(body *hclsyntax.Body, name blockName) *hclsyntax.Block {
	i := slices.IndexFunc(body.Blocks, name.matches)
	if i < 0 {
		return nil
	}
	return body.Blocks[i]
}

// changeBlock has change edit a block at the top of the file, in which the blocks of a path are written over several lines.
// The block is formatted if it gets longer.
func (d *Draft) changeBlock(name blockName, path []string, change func(*hclwrite.Body) error) error {
	before := d.text
	err := d.expandBlocks(name, path)
	if err == nil {
		err = d.editBlock(name, change)
	}
	if err != nil {
		d.text = before
	}
	return err
}

// editBlock has change edit a block at the top of the file.
func (d *Draft) editBlock(name blockName, change func(*hclwrite.Body) error) error {
	body, err := d.parse()
	if err != nil {
		return err
	}
	old := findBlock(body, name)
	if old == nil {
		return fmt.Errorf("%w: it has no block %s", ErrNotEditable, blockTitle(name.kind, name.labels))
	}
	from, to := old.Range().Start.Byte, old.CloseBraceRange.End.Byte
	part, found := hclwrite.ParseConfig(d.text[from:to], d.name, hcl.InitialPos)
	if found.HasErrors() || len(part.Body().Blocks()) != 1 {
		return fmt.Errorf("%w: a block cannot be read alone", ErrNotEditable)
	}
	if err := change(part.Body().Blocks()[0].Body()); err != nil {
		return err
	}
	text := part.Bytes()
	if bytes.Count(text, []byte("\n")) != bytes.Count(d.text[from:to], []byte("\n")) {
		text = hclwrite.Format(text)
	}
	return d.replaceText(slices.Concat(d.text[:from], text, d.text[to:]))
}

// expandBlocks writes a block, and those inside it that a path names, over several lines, so that they can get longer.
func (d *Draft) expandBlocks(name blockName, path []string) error {
	for depth := range len(path) + 1 {
		body, err := d.parse()
		if err != nil {
			return err
		}
		block := findBlock(body, name)
		for _, inner := range path[:depth] {
			if block != nil {
				block = findBlock(block.Body, blockName{kind: inner})
			}
		}
		if block == nil {
			return nil
		}
		open, end := block.OpenBraceRange.End.Byte, block.CloseBraceRange.Start.Byte
		if block.OpenBraceRange.Start.Line != block.CloseBraceRange.Start.Line {
			continue
		}
		inside := bytes.TrimSpace(d.text[open:end])
		if len(inside) > 0 {
			inside = append(slices.Clone(inside), '\n')
		}
		from, to := block.Range().Start.Byte, block.CloseBraceRange.End.Byte
		text := slices.Concat(d.text[from:open], []byte("\n"), inside, d.text[end:to])
		if depth == 0 {
			text = hclwrite.Format(text)
		}
		if err := d.replaceText(slices.Concat(d.text[:from], text, d.text[to:])); err != nil {
			return err
		}
	}
	return nil
}

package config

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/hashicorp/hcl/v2/hclwrite"
)

// IsName reports whether an instance may have a name.
func IsName(name string) bool { return validName(name) }

// AddInstance adds the block of an instance, after the last one of its kind, else before the first service.
func (d *Draft) AddInstance(kind, plugin, name string, settings []Setting) error {
	if !validName(plugin) || !validName(name) {
		return fmt.Errorf("%w: the names must begin with a lower-case letter and have at most 32 of a-z, 0-9, _ and -", ErrNotEditable)
	}
	body, err := d.parse()
	if err != nil {
		return err
	}
	if findBlock(body, blockName{kind, []string{"", name}}) != nil {
		return fmt.Errorf("%w: there is an instance %s.%s already", ErrNotEditable, kind, name)
	}
	block := instanceText(kind, plugin, name, settings)
	at, after := d.placeFor(body, kind)
	if after {
		block = "\n" + block
		if rest := d.text[at:]; len(rest) > 0 && rest[0] != '\n' {
			block += "\n"
		}
	} else {
		block += "\n"
	}
	return d.replaceText(slices.Concat(d.text[:at], []byte(block), d.text[at:]))
}

// instanceText returns the block of an instance as AddInstance writes it.
func instanceText(kind, plugin, name string, settings []Setting) string {
	if !slices.ContainsFunc(settings, func(s Setting) bool { return !s.Value.IsZero() }) {
		return blockTitle(kind, []string{plugin, name}) + " {}\n"
	}
	file := hclwrite.NewEmptyFile()
	inner := file.Body().AppendNewBlock(kind, []string{plugin, name}).Body().AppendNewBlock("config", nil).Body()
	for _, s := range settings {
		s.setIn(inner)
	}
	return string(hclwrite.Format(file.Bytes()))
}

// placeFor returns where a block of a kind is put: the beginning of a line, and whether that follows another block.
func (d *Draft) placeFor(body *hclsyntax.Body, kind string) (at int, after bool) {
	for _, b := range slices.Backward(body.Blocks) {
		if b.Type == kind {
			return d.endOfLine(b.CloseBraceRange.End.Byte), true
		}
	}
	for _, b := range body.Blocks {
		if b.Type == "service" {
			return d.startOfBlock(b), false
		}
	}
	return len(d.text), len(d.text) > 0
}

// endOfLine returns the beginning of the line that follows an offset.
func (d *Draft) endOfLine(offset int) int {
	if i := bytes.IndexByte(d.text[offset:], '\n'); i >= 0 {
		return offset + i + 1
	}
	return len(d.text)
}

// startOfBlock returns the beginning of a block with the comments on the lines right above it.
func (d *Draft) startOfBlock(b *hclsyntax.Block) int {
	at := b.Range().Start.Byte - (b.Range().Start.Column - 1)
	for at > 0 {
		above := bytes.LastIndexByte(d.text[:at-1], '\n') + 1
		line := strings.TrimSpace(string(d.text[above:at]))
		if !strings.HasPrefix(line, "#") && !strings.HasPrefix(line, "//") {
			break
		}
		at = above
	}
	return at
}

// SetConfig sets attributes in the config block of an instance, which is made if there is none.
func (d *Draft) SetConfig(kind, name string, settings []Setting) error {
	for _, s := range settings {
		err := d.changeBlock(blockName{kind, []string{"", name}}, append([]string{"config"}, s.Path[:len(s.Path)-1]...),
			func(body *hclwrite.Body) error {
				inner := body.FirstMatchingBlock("config", nil)
				if inner == nil {
					if s.Value.IsZero() {
						return nil
					}
					inner = body.AppendNewBlock("config", nil)
				}
				s.setIn(inner.Body())
				return nil
			})
		if err != nil {
			return err
		}
	}
	return nil
}

// SetReference sets which instances an attribute of a service names, in their order; none takes the attribute out. Of a list
// that has one element the brackets are left out, unless they were there.
func (d *Draft) SetReference(service, attribute string, refs []string) error {
	return d.changeBlock(blockName{"service", []string{service}}, nil, func(body *hclwrite.Body) error {
		if len(refs) == 0 {
			body.RemoveAttribute(attribute)
			return nil
		}
		elements := make([]hclwrite.Tokens, len(refs))
		for i, ref := range refs {
			kind, name, ok := strings.Cut(ref, ".")
			if !ok || !hclsyntax.ValidIdentifier(kind) || !hclsyntax.ValidIdentifier(name) {
				return fmt.Errorf("%w: %q names no instance", ErrNotEditable, ref)
			}
			elements[i] = referenceTokens(kind, name)
		}
		tokens := elements[0]
		if old := body.GetAttribute(attribute); len(refs) > 1 || old != nil && isList(old) {
			tokens = hclwrite.TokensForTuple(elements)
		}
		body.SetAttributeRaw(attribute, tokens)
		return nil
	})
}

// isList reports whether the value of an attribute is written in brackets.
func isList(a *hclwrite.Attribute) bool {
	tokens := a.Expr().BuildTokens(nil)
	return len(tokens) > 0 && tokens[0].Type == hclsyntax.TokenOBrack
}

// RemoveInstance takes the block of an instance out, with the comments right above it. References to it stay.
func (d *Draft) RemoveInstance(kind, name string) error {
	body, err := d.parse()
	if err != nil {
		return err
	}
	block := findBlock(body, blockName{kind, []string{"", name}})
	if block == nil {
		return fmt.Errorf("%w: it has no instance %s.%s", ErrNotEditable, kind, name)
	}
	from, to := d.startOfBlock(block), d.endOfLine(block.CloseBraceRange.End.Byte)
	// One of the empty lines around the block goes with it.
	if to < len(d.text) && d.text[to] == '\n' && (from == 0 || bytes.HasSuffix(d.text[:from], []byte("\n\n"))) {
		to++
	}
	return d.replaceText(slices.Concat(d.text[:from], d.text[to:]))
}

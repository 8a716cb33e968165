package config

import (
	"maps"
	"slices"

	"github.com/hashicorp/hcl/v2"

	"github.com/patchbay-dev/patchbay/sdk/schema"
)

// Block is a decoded block of the host's own settings: core, supervisor, a storage or a service.
type Block struct {
	// Type is the block's type; Name is its label, empty for core and supervisor.
	Type, Name string
	// Declared reports whether the block is written in the file.
	Declared bool
	// Range is the block's header; its Line is 0 if the block is not declared.
	Range Range

	file *File
	node *node
}

// Core returns the core block; what is not written has the defaults.
func (f *File) Core() *Block { return f.core }

// Supervisor returns the supervisor block; what is not written has the defaults.
func (f *File) Supervisor() *Block { return f.supervisor }

// Storage returns the storage block, else one of Options.DefaultStorage. It is nil after an error.
func (f *File) Storage() *Block { return f.storage }

// Services returns the services that are declared, in the order of the file.
func (f *File) Services() []*Block { return slices.Clone(f.services) }

// Service returns a declared service, or nil.
func (f *File) Service(name string) *Block {
	for _, b := range f.services {
		if b.Name == name {
			return b
		}
	}
	return nil
}

// JSON returns the values as schema.Decode reads them, secrets included: it is not for logs. A reference is a string
// such as "search.docs".
func (b *Block) JSON() ([]byte, error) { return b.node.encode() }

// Decode fills the struct from which the block's schema was derived.
func (b *Block) Decode(into any) Diagnostics {
	data, err := b.JSON()
	if err != nil {
		return ErrorAt(b.Range, "Block cannot be encoded", err.Error())
	}
	return b.Locate(schema.Decode(data, into))
}

// Locate gives findings about the block's values their places in the file.
func (b *Block) Locate(ds schema.Diagnostics) Diagnostics {
	return b.file.locate(b.node, b.Range, "", ds)
}

// RangeOf returns the place of a value, else that of the nearest block around it.
func (b *Block) RangeOf(path schema.Path) Range {
	r, _ := b.file.find(b.node, b.Range, path)
	return r
}

// Secrets returns the sensitive strings of the block, for whoever keeps them out of logs.
func (b *Block) Secrets() []string { return b.node.secrets() }

// References returns the instances that the block names, such as search.docs, in the order of its schema.
func (b *Block) References() []string {
	var refs []string
	b.node.walk(nil, func(_ schema.Path, v *value) {
		if v.attr.Ref != "" {
			refs = append(refs, stringsIn(v.data)...)
		}
	})
	return slices.DeleteFunc(refs, func(ref string) bool { return ref == "" })
}

// BaseURL returns the attribute base_url, "" if the block has none.
func (b *Block) BaseURL() string {
	if v := b.node.value("base_url"); v != nil {
		text, _ := v.data.(string)
		return text
	}
	return ""
}

// address is how the block is called in Origins.
func (b *Block) address() string {
	if b.Name == "" {
		return b.Type
	}
	return b.Type + "." + b.Name
}

// single decodes a block that may stand once and needs not be written.
func (d *decoder) single(kind string, blocks hcl.Blocks, s *schema.Schema) *Block {
	if len(blocks) > 1 {
		d.duplicate("Duplicate "+kind+" block", blocks)
	}
	var block *hcl.Block
	if len(blocks) > 0 {
		block = blocks[0]
	}
	return d.block(kind, "", block, s)
}

// block decodes one block of the host's own; a nil block is one that is not written.
func (d *decoder) block(kind, name string, block *hcl.Block, s *schema.Schema) *Block {
	b := &Block{Type: kind, Name: name, file: d.file, Range: Range{File: d.src.name}}
	var body hcl.Body
	if block != nil {
		b.Declared, b.Range, body = true, d.src.at(block.DefRange), block.Body
	}
	b.node, _ = d.body(body, b.Range, s)
	d.file.record(b.address(), b.node)
	return b
}

func (d *decoder) storage(blocks hcl.Blocks) *Block {
	if len(blocks) == 0 {
		return d.block("storage", d.file.opts.DefaultStorage, nil, d.file.opts.Storage[d.file.opts.DefaultStorage])
	}
	if len(blocks) > 1 {
		d.duplicate("Duplicate storage block", blocks)
	}
	block := blocks[0]
	name := block.Labels[0]
	s, ok := d.file.opts.Storage[name]
	if !ok {
		d.errorAt(d.label(block, 0), "Unknown storage", "%s", didYouMean(name, sortedKeys(d.file.opts.Storage), ""))
		return nil
	}
	return d.block("storage", name, block, s)
}

func (d *decoder) services(blocks hcl.Blocks) {
	for _, block := range blocks {
		name := block.Labels[0]
		s, ok := d.file.opts.Services[name]
		if !ok {
			d.errorAt(d.label(block, 0), "Unknown service", "%s", didYouMean(name, sortedKeys(d.file.opts.Services), ""))
			continue
		}
		if first := d.file.Service(name); first != nil {
			d.errorAt(d.src.at(block.DefRange), "Duplicate service",
				"service %q already stands at %s. Keep one of them.", name, first.Range.Short())
			continue
		}
		d.file.services = append(d.file.services, d.block("service", name, block, s))
	}
}

// label returns the place of a block's label.
func (d *decoder) label(block *hcl.Block, i int) Range {
	if i < len(block.LabelRanges) {
		return d.src.at(block.LabelRanges[i])
	}
	return d.src.at(block.DefRange)
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

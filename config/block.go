package config

import (
	"maps"
	"slices"

	"github.com/hashicorp/hcl/v2"

	"github.com/patchbay-dev/patchbay/sdk/schema"
)

// Block is a decoded block of the host's own settings: core, supervisor, backup, a storage or a service.
type Block struct {
	// Type is the block's type; Name is its label, empty for core, supervisor and backup.
	Type, Name string
	// Declared reports whether the block is written in the file.
	Declared bool
	// Range is the block's header; its Line is 0 if the block is not declared.
	Range Range

	file *File
	node *node
}

// Core returns the core block. Values that are not in the file have their defaults.
func (f *File) Core() *Block { return f.core }

// Supervisor returns the supervisor block. Values that are not in the file have their defaults.
func (f *File) Supervisor() *Block { return f.supervisor }

// Backup returns the backup block. Values that are not in the file have their defaults.
func (f *File) Backup() *Block { return f.backup }

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
func (b *Block) JSON() ([]byte, error) { return b.node.encodeJSON() }

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
	return b.file.locateFindings(b.node, b.Range, "", ds)
}

// RangeOf returns the place of a value, else that of the nearest block around it.
func (b *Block) RangeOf(path schema.Path) Range {
	r, _ := b.file.findRange(b.node, b.Range, path)
	return r
}

// Secrets returns the sensitive strings of the block, which must not be logged.
func (b *Block) Secrets() []string { return b.node.sensitiveStrings() }

// References returns the instances that the block names, such as search.docs, in the order of its schema.
func (b *Block) References() []string {
	var refs []string
	b.node.walkValues(nil, func(_ schema.Path, v *value) {
		if v.attr.Ref != "" {
			refs = append(refs, collectStrings(v.data)...)
		}
	})
	return slices.DeleteFunc(refs, func(ref string) bool { return ref == "" })
}

// BaseURL returns the attribute base_url, "" if the block has none.
func (b *Block) BaseURL() string {
	if v := b.node.findValue("base_url"); v != nil {
		text, _ := v.data.(string)
		return text
	}
	return ""
}

// originKey returns the prefix of the block's keys in Origins.
func (b *Block) originKey() string {
	if b.Name == "" {
		return b.Type
	}
	return b.Type + "." + b.Name
}

// decodeSingleton decodes an optional block that may appear at most once.
func (d *decoder) decodeSingleton(kind string, blocks hcl.Blocks, s *schema.Schema) *Block {
	if len(blocks) > 1 {
		d.reportDuplicates("Duplicate "+kind+" block", blocks)
	}
	var block *hcl.Block
	if len(blocks) > 0 {
		block = blocks[0]
	}
	return d.decodeBlock(kind, "", block, s)
}

// decodeBlock decodes a block of the host's settings. A nil block stands for one that is not in the file.
func (d *decoder) decodeBlock(kind, name string, block *hcl.Block, s *schema.Schema) *Block {
	b := &Block{Type: kind, Name: name, file: d.file, Range: Range{File: d.src.name}}
	var body hcl.Body
	if block != nil {
		b.Declared, b.Range, body = true, d.src.rangeAt(block.DefRange), block.Body
	}
	b.node, _ = d.decodeBody(body, b.Range, s)
	d.file.recordOrigins(b.originKey(), b.node)
	return b
}

func (d *decoder) decodeStorage(blocks hcl.Blocks) *Block {
	if len(blocks) == 0 {
		return d.decodeBlock("storage", d.file.opts.DefaultStorage, nil, d.file.opts.Storage[d.file.opts.DefaultStorage])
	}
	if len(blocks) > 1 {
		d.reportDuplicates("Duplicate storage block", blocks)
	}
	block := blocks[0]
	name := block.Labels[0]
	s, ok := d.file.opts.Storage[name]
	if !ok {
		d.errorAt(d.labelRange(block, 0), "Unknown storage", "%s", didYouMean(name, sortedKeys(d.file.opts.Storage), ""))
		return nil
	}
	return d.decodeBlock("storage", name, block, s)
}

func (d *decoder) decodeServices(blocks hcl.Blocks) {
	for _, block := range blocks {
		name := block.Labels[0]
		s, ok := d.file.opts.Services[name]
		if !ok {
			d.errorAt(d.labelRange(block, 0), "Unknown service", "%s", didYouMean(name, sortedKeys(d.file.opts.Services), ""))
			continue
		}
		if first := d.file.Service(name); first != nil {
			d.errorAt(d.src.rangeAt(block.DefRange), "Duplicate service",
				"service %q already stands at %s. Keep one of them.", name, first.Range.Short())
			continue
		}
		d.file.services = append(d.file.services, d.decodeBlock("service", name, block, s))
	}
}

// labelRange returns the place of a block's label.
func (d *decoder) labelRange(block *hcl.Block, i int) Range {
	if i < len(block.LabelRanges) {
		return d.src.rangeAt(block.LabelRanges[i])
	}
	return d.src.rangeAt(block.DefRange)
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

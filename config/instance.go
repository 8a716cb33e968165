package config

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/hashicorp/hcl/v2"

	"github.com/patchbay-dev/patchbay/sdk/schema"
)

// Limits of what an instance may ask for.
const (
	maxTimeout     = 24 * time.Hour
	maxConcurrency = 4096
)

// Instance is one configured use of a plugin: search "local" "docs" { … }.
type Instance struct {
	// Kind, Plugin and Name are the block's type and labels.
	Kind, Plugin, Name string
	// Range is the block's header.
	Range Range
	// Timeout bounds one call; it is above 0 and at most 24 h.
	Timeout time.Duration
	// Concurrency is how many calls may run at once, 1..4096.
	Concurrency int
	// Isolate asks for a process of the instance's own.
	Isolate bool
	// Required reports whether the host refuses to start when the instance cannot be built. The default is true.
	Required bool

	args      *node
	config    hcl.Body
	configDef Range
	// decoded is the config block after DecodeInstance.
	decoded atomic.Pointer[node]
}

// Ref returns the name by which services refer to the instance, such as "search.docs".
func (i *Instance) Ref() string { return i.Kind + "." + i.Name }

// Fingerprint returns a hash of everything that makes the instance what it is: its header, its arguments and the
// JSON of its config block, in which neither order nor white space counts. It tells a reload what has changed.
func (i *Instance) Fingerprint(data []byte) string {
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	var config any
	if dec.Decode(&config) != nil {
		config = string(data)
	}
	text, err := json.Marshal([]any{i.Kind, i.Plugin, i.Name, i.Timeout, i.Concurrency, i.Isolate, i.Required, config})
	if err != nil {
		text = data
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// instanceArgs are the arguments that every instance has.
type instanceArgs struct {
	Timeout     time.Duration `patchbay:"timeout" doc:"Longest time for one call."`
	Concurrency int           `patchbay:"concurrency" doc:"Calls at the same time."`
	Isolate     bool          `patchbay:"isolate,default=false" doc:"Run the instance in a separate process."`
	Required    bool          `patchbay:"required,default=true" doc:"Refuse to start without it."`
}

// InstanceArguments returns the schema of the arguments that every instance has, besides its block config.
func InstanceArguments() (*schema.Schema, error) { return schema.Of(instanceArgs{}) }

// defaultArgs are the arguments of the block defaults.
type defaultArgs struct {
	Timeout     time.Duration `patchbay:"timeout"`
	Concurrency int           `patchbay:"concurrency"`
}

// readSchema returns the schema of a struct of this package.
func (d *decoder) readSchema(v any) *schema.Schema {
	s, err := schema.Of(v)
	if err != nil {
		d.errorAt(Range{File: d.src.name}, "Schema of the host is wrong", "%s", err)
		return &schema.Schema{}
	}
	return s
}

func (d *decoder) decodeDefaults(blocks hcl.Blocks) *node {
	b := d.decodeSingleton("defaults", blocks, d.readSchema(defaultArgs{}))
	d.checkArgs(b.node)
	return b.node
}

func (d *decoder) decodeInstances(blocks hcl.Blocks, defaults *node) {
	args := d.readSchema(instanceArgs{})
	for _, block := range blocks {
		if !slices.Contains(d.file.opts.Kinds, block.Type) {
			continue
		}
		i := &Instance{Kind: block.Type, Plugin: block.Labels[0], Name: block.Labels[1], Range: d.src.rangeAt(block.DefRange)}
		var configs hcl.Blocks
		i.args, configs = d.decodeBody(block.Body, i.Range, args, "config")
		i.configDef = i.Range
		if len(configs) > 0 {
			i.config, i.configDef = configs[0].Body, d.src.rangeAt(configs[0].DefRange)
			d.reportDuplicates("Duplicate config block", configs)
		}
		d.checkArgs(i.args)
		d.inheritDefaults(i.args, defaults)
		i.setArguments()
		if d.checkHeader(i, block) {
			d.file.Instances = append(d.file.Instances, i)
			d.file.recordOrigins(i.Ref(), i.args)
		}
	}
}

// checkHeader checks the labels of an instance and reports whether references can name it.
func (d *decoder) checkHeader(i *Instance, block *hcl.Block) bool {
	d.checkPlugin(i, block)
	if !validName(i.Name) {
		d.errorAt(d.labelRange(block, 1), "Invalid name", "Begin with a lower-case letter, and write at most 32 of a-z, 0-9, _ and -.")
		return false
	}
	if first := d.file.findInstance(i.Kind, i.Name); first != nil {
		d.errorAt(d.labelRange(block, 1), "Duplicate "+i.Kind+" instance",
			"%s %q already stands at %s. Give each instance of a kind a name of its own.", i.Kind, i.Name, first.Range.Short())
		return false
	}
	return true
}

func (d *decoder) checkPlugin(i *Instance, block *hcl.Block) {
	if !validName(i.Plugin) {
		d.errorAt(d.labelRange(block, 0), "Invalid name", "Begin with a lower-case letter, and write at most 32 of a-z, 0-9, _ and -.")
		return
	}
	if d.file.opts.Builtins == nil || d.incomplete || d.file.Plugin(i.Plugin) != nil {
		return
	}
	known := slices.Clone(d.file.opts.Builtins[i.Kind])
	if slices.Contains(known, i.Plugin) {
		return
	}
	for _, p := range d.file.Plugins {
		known = append(known, p.Name)
	}
	d.errorAt(d.labelRange(block, 0), "Unknown plugin",
		"No plugin %q of the kind %s is known. %s A plugin of your own needs a block plugin %q with its path.",
		i.Plugin, i.Kind, didYouMean(i.Plugin, known, ""), i.Plugin)
}

// checkArgs checks the range of timeout and concurrency; what is wrong is taken out.
func (d *decoder) checkArgs(n *node) {
	if v := n.findValue("timeout"); v != nil && v.data != nil {
		if t := readDuration(v); t <= 0 || t > maxTimeout {
			d.errorAt(v.at, "Invalid duration", `"timeout" must be above 0 and at most 24h. Write for example "90s".`)
			v.data = nil
		}
	}
	if v := n.findValue("concurrency"); v != nil && v.data != nil {
		if c := readInt(v); c < 1 || c > maxConcurrency {
			d.errorAt(v.at, "Value not permitted", `"concurrency" must be a number from 1 to %d.`, maxConcurrency)
			v.data = nil
		}
	}
}

// inheritDefaults sets missing arguments from the block defaults, else from the built-in defaults.
func (d *decoder) inheritDefaults(args, defaults *node) {
	builtin := map[string]any{
		"timeout":     d.file.opts.DefaultTimeout.String(),
		"concurrency": json.Number(strconv.Itoa(d.file.opts.DefaultConcurrency)),
	}
	for name, data := range builtin {
		v, common := args.findValue(name), defaults.findValue(name)
		switch {
		case v == nil || v.data != nil:
		case common != nil && common.data != nil:
			v.data, v.origin = common.data, "defaults at "+common.at.Short()
		default:
			v.data, v.origin = data, "default"
		}
	}
}

func (i *Instance) setArguments() {
	i.Timeout, i.Concurrency = readDuration(i.args.findValue("timeout")), readInt(i.args.findValue("concurrency"))
	i.Isolate, _ = i.args.findValue("isolate").data.(bool)
	i.Required, _ = i.args.findValue("required").data.(bool)
}

func readDuration(v *value) time.Duration {
	text, _ := v.data.(string)
	t, err := time.ParseDuration(text)
	if err != nil {
		return 0
	}
	return t
}

func readInt(v *value) int {
	n, _ := v.data.(json.Number)
	i, err := strconv.Atoi(n.String())
	if err != nil {
		return 0
	}
	return i
}

var namePattern = regexp.MustCompile(`^[a-z][a-z0-9_-]{0,31}$`)

func validName(name string) bool { return namePattern.MatchString(name) }

// Secrets returns the sensitive strings of the config block, which must not be logged. It returns nil before
// DecodeInstance.
func (i *Instance) Secrets() []string {
	if n := i.decoded.Load(); n != nil {
		return n.sensitiveStrings()
	}
	return nil
}

// DecodeInstance decodes the config block of an instance against the schema of its plugin and returns the JSON for
// it: an object with a member for every attribute and block. The JSON is nil if there are errors. It may be called
// for several instances at once, and again for the same one while others read the file.
func (f *File) DecodeInstance(i *Instance, s *schema.Schema) ([]byte, Diagnostics) {
	d := f.newDecoder()
	decoded, _ := d.decodeBody(i.config, i.configDef, s)
	i.decoded.Store(decoded)
	f.recordOrigins(i.Ref()+".config", decoded)
	d.diags.Sort()
	if d.diags.HasErrors() {
		return nil, d.diags
	}
	data, err := decoded.encodeJSON()
	if err != nil {
		return nil, append(d.diags, ErrorAt(i.configDef, "Block cannot be encoded", fmt.Sprintf("encode %s: %v", i.Ref(), err))...)
	}
	return data, d.diags
}

package schema

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"sync"

	"google.golang.org/protobuf/proto"
)

const (
	// MaxSize is the largest serialised schema, in bytes.
	MaxSize = 1 << 20
	// MaxDepth is how deep blocks may nest.
	MaxDepth = 8
)

var namePattern = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[a-z][a-z0-9_]{0,31}$`) })

// Type is the type of an attribute's value.
type Type int

// The types, with their form in JSON.
const (
	String     Type = iota + 1 // a string
	Number                     // a number
	Integer                    // a number without a fraction, within 64 bits
	Bool                       // true or false
	Duration                   // a string as time.ParseDuration reads it: "90s"
	StringList                 // an array of strings
	StringMap                  // an object of strings
)

// String returns the type as operators read it, with its article.
func (t Type) String() string {
	switch t {
	case String:
		return "a string"
	case Number:
		return "a number"
	case Integer:
		return "a whole number"
	case Bool:
		return "true or false"
	case Duration:
		return `a duration such as "90s"`
	case StringList:
		return "a list of strings"
	case StringMap:
		return "a map of strings"
	}
	return "unknown"
}

// Nesting tells how often a block may appear.
type Nesting int

// The nestings, with their form in JSON.
const (
	Single Nesting = iota + 1 // at most once; an object or null
	List                      // any number; an array of objects
	Map                       // any number with one label each; an object of objects
)

// Schema describes a configuration block.
type Schema struct {
	Attributes []*Attribute
	Blocks     []*Block
}

// Attribute describes one name = value.
type Attribute struct {
	Name     string
	Type     Type
	Required bool
	// Default is the JSON of the value of an absent attribute; nil for none.
	Default   json.RawMessage
	Sensitive bool
	Doc       string
	// Enum, if not empty, lists the permitted strings (of a string, or of a list's elements).
	Enum []string
	// Deprecated tells what to write instead; empty for none.
	Deprecated string
	// Env is the environment variable that overrides the value. It does not cross the wire.
	Env string
	// Ref is the kind whose instances the value names. It does not cross the wire.
	Ref string
}

// Block describes a nested block.
type Block struct {
	Name     string
	Nesting  Nesting
	Schema   *Schema
	Doc      string
	Required bool
}

// Attribute returns the attribute of that name, or nil.
func (s *Schema) Attribute(name string) *Attribute {
	if s == nil {
		return nil
	}
	for _, a := range s.Attributes {
		if a.Name == name {
			return a
		}
	}
	return nil
}

// Block returns the block of that name, or nil.
func (s *Schema) Block(name string) *Block {
	if s == nil {
		return nil
	}
	for _, b := range s.Blocks {
		if b.Name == name {
			return b
		}
	}
	return nil
}

// checkSchema checks what both authors and plugins can get wrong.
func (s *Schema) checkSchema() error {
	if err := s.validateLevel(1, false); err != nil {
		return err
	}
	if size := proto.Size(s.Proto()); size > MaxSize {
		return fmt.Errorf("schema: %d bytes, the limit is %d", size, MaxSize)
	}
	return nil
}

func (s *Schema) validateLevel(depth int, repeated bool) error {
	if depth > MaxDepth {
		return fmt.Errorf("schema: blocks nest deeper than %d", MaxDepth)
	}
	seen := map[string]bool{}
	for _, a := range s.Attributes {
		if err := checkName(a.Name, seen); err != nil {
			return err
		}
		if err := a.checkAttribute(); err != nil {
			return fmt.Errorf("schema: attribute %q: %w", a.Name, err)
		}
		if repeated && a.Env != "" {
			return fmt.Errorf("schema: attribute %q: env stands in a block that may repeat", a.Name)
		}
	}
	for _, b := range s.Blocks {
		if err := checkName(b.Name, seen); err != nil {
			return err
		}
		if b.Nesting < Single || b.Nesting > Map {
			return fmt.Errorf("schema: block %q has no nesting", b.Name)
		}
		if b.Schema == nil {
			return fmt.Errorf("schema: block %q has no schema", b.Name)
		}
		if err := b.Schema.validateLevel(depth+1, repeated || b.Nesting != Single); err != nil {
			return err
		}
	}
	return nil
}

func checkName(name string, seen map[string]bool) error {
	if !namePattern().MatchString(name) {
		return fmt.Errorf("schema: name %q does not match [a-z][a-z0-9_]{0,31}", name)
	}
	if seen[name] {
		return fmt.Errorf("schema: name %q is used twice", name)
	}
	seen[name] = true
	return nil
}

func (a *Attribute) checkAttribute() error {
	if a.Type < String || a.Type > StringMap {
		return errors.New("it has no type")
	}
	if len(a.Enum) > 0 && a.Type != String && a.Type != StringList {
		return errors.New("enum needs a string or a list of strings")
	}
	if a.Ref != "" && a.Type != String && a.Type != StringList {
		return errors.New("ref needs a string or a list of strings")
	}
	if a.Default == nil {
		return nil
	}
	if a.Required {
		return errors.New("it is required and has a default")
	}
	if err := a.checkJSON(a.Default); err != nil {
		return fmt.Errorf("check its default: %w", err)
	}
	return nil
}

// checkJSON reports whether a value other than null fits the attribute. The error tells what is wanted, not what was found.
func (a *Attribute) checkJSON(raw json.RawMessage) error {
	v, err := parseValue(a.Type, raw)
	if err != nil {
		return err
	}
	switch v := v.(type) {
	case string:
		return a.checkEnum(v)
	case []string:
		for _, e := range v {
			if err := a.checkEnum(e); err != nil {
				return err
			}
		}
	}
	return nil
}

func (a *Attribute) checkEnum(v string) error {
	if len(a.Enum) == 0 || slices.Contains(a.Enum, v) {
		return nil
	}
	return fmt.Errorf("must be one of %s", quoteAll(a.Enum))
}

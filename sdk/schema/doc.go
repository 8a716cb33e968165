// Package schema turns a Go struct into a configuration schema and configuration JSON into that struct.
//
// An author writes a struct with two tags:
//
//	type Config struct {
//		BaseURL string        `patchbay:"base_url,default=https://api.example.com" doc:"Address of the API."`
//		Token   schema.Secret `patchbay:"token,required" doc:"Credential of the account."`
//		Timeout time.Duration `patchbay:"timeout,default=30s" doc:"Longest time for one call."`
//		Mode    string        `patchbay:"mode,enum=fast|exact,default=fast"`
//		Feeds   []Feed        `patchbay:"feed" doc:"Each block adds a feed."`
//	}
//
// # The patchbay tag
//
// The first element is the name in the configuration, [a-z][a-z0-9_]{0,31}. A field without the tag, or with the name
// "-", is no part of the configuration. The other elements, separated by commas, are
//
//	required          the operator must write it
//	sensitive         its value is never shown (a Secret is sensitive by itself)
//	default=VALUE     the value of an absent attribute
//	enum=A|B|C        the permitted strings
//	deprecated=TEXT   a warning that tells what to write instead
//	env=NAME          the environment variable that overrides the value (the host's own settings only)
//	ref=KIND          the value names an instance of a kind, such as search.docs (the host's own settings only)
//
// A value that holds a comma stands in single quotes, and a single quote inside the quotes is doubled:
// default='a, b'. A default for a list separates its elements by "|", one for a map its members, each KEY=VALUE. The tag
// doc is the description, one or two sentences.
//
// # Field types
//
// Attributes: string, Secret and other types made from string; int, int64; float64; bool; time.Duration; slices of
// strings; maps from string to string. A pointer to a string, number, bool or duration stays nil if the attribute is
// absent. Blocks: a struct (at most once, defaults apply if it is absent), a pointer to a struct (at most once, nil if
// absent), a slice of structs (may repeat), a map from string to structs (repeats with one label each).
//
// # Limits
//
// A schema is at most 1 MiB in its serialised form and 8 blocks deep. At most 100 diagnostics cross the wire.
package schema

// Package config reads plugin.hcl, the one file that selects and configures services and plugins.
//
// It knows the shape of the file but no service and no plugin: the caller says in Options which kinds, services and
// storages exist and which schema each block has. Load parses the file and decodes every block whose schema is known;
// File.DecodeInstance decodes the config block of an instance once its plugin has told its schema. Both report every
// finding, sorted by position, each with file and line.
//
//	storage "sqlite" { path = "data/app.sqlite3" }     a block of Options.Storage
//	core { … }  supervisor { … }  backup { … }         at most once each
//	defaults { timeout, concurrency }                  for instances that do not say
//	plugin "intranet" { path, args, env, mtls, insecure_unpinned }
//	search "local" "docs" {                            a kind: plugin and name
//	  timeout, concurrency, isolate, required
//	  config { … }                                     the plugin's own settings
//	}
//	service "search" { backend = search.docs }         a block of Options.Services
//
// A value comes from the environment variable that its attribute names (an empty variable counts as unset), else from
// the file, else, for timeout and concurrency of an instance, from the block defaults, else from the built-in default.
// In the environment, a list is separated by commas, and a map is written k=v,k=v.
//
// Values may call env(name[, default]), secret_file(path), file(path), format, join, lower and trimspace. Relative
// paths start at the directory of the file. Names of instances match [a-z][a-z0-9_-]{0,31}. A path ending in .json is
// read as HCL's JSON syntax.
//
// Diagnostics never hold a secret: values of sensitive attributes, and whatever stands in an attribute that no schema
// knows, are left out of the source lines that are shown.
package config

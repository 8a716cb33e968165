// Package schemas holds the JSON Schemas (draft 2020-12) of the payloads that notifications carry, for consumers in any
// language.
package schemas

import "embed"

//go:embed *.schema.json
var files embed.FS

// FS are the schemas, each in a file named after its $id, such as svc.notification.job.v2.schema.json.
func FS() embed.FS { return files }

package secret

import "regexp"

var (
	// secretName matches the names of variables and members whose values are secrets.
	secretName = regexp.MustCompile(`(?i)pass|pwd|secret|token|credential|key|auth|dsn`)
	// assignedSecret matches a name of that sort with the value that is assigned to it.
	assignedSecret = regexp.MustCompile(`(?i)((?:password|passwd|pwd|passphrase|secret|token|credentials?|api[_-]?key|access[_-]?key|private[_-]?key)["']?\s*[=:]\s*)("[^"]*"|'[^']*'|[^\s,;&]+)`)
)

// NamesSecret reports whether the value of a variable or member with this name is probably a secret.
func NamesSecret(name string) bool { return secretName.MatchString(name) }

// RedactAssignments returns a line of free text without the values that are assigned to names of secrets in it.
func RedactAssignments(line string) string {
	return assignedSecret.ReplaceAllString(line, "${1}"+Redacted)
}

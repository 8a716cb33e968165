package pin

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// python matches the names of Python's interpreter.
var python = regexp.MustCompile(`^python[0-9.]*$`)

// isPython reports whether a path is, or links to, Python's interpreter.
func isPython(path string) bool {
	if python.MatchString(filepath.Base(path)) {
		return true
	}
	real, err := filepath.EvalSymlinks(path)
	return err == nil && python.MatchString(filepath.Base(real))
}

// runScript runs a script of Python whose folder comes last among those that modules are loaded from, so that no file in it takes the place
// of a library; or an archive of Python (.pyz), which no source is: it holds zero bytes. The arguments are the script and its own.
const runScript = `import os,sys
del sys.argv[0]
__file__=sys.argv[0]
sys.path.append(os.path.dirname(os.path.realpath(__file__)))
with open(__file__,"rb") as f: f=f.read()
if b"\0" in f:
 import runpy
 runpy.run_path(__file__,run_name="__main__")
else: exec(compile(f,__file__,"exec"))`

// Arguments returns the arguments with which an executable is started. Python writes no compiled code and loads no module from the
// working directory, and one from the folder of the script only if there is none elsewhere.
func Arguments(path string, args []string) []string {
	if !isPython(path) {
		return args
	}
	out := []string{"-B", "-P"}
	for i, a := range args {
		if a == "-c" || a == "-m" {
			break
		}
		if info, err := os.Stat(a); filepath.IsAbs(a) && err == nil && info.Mode().IsRegular() {
			return slices.Concat(out, args[:i], []string{"-c", runScript}, args[i:])
		}
	}
	return append(out, args...)
}

// Interpreter returns the command on the first line of an open file that is a script, such as "/bin/sh", or "".
func Interpreter(f *os.File) string {
	head := make([]byte, 256)
	n, _ := f.ReadAt(head, 0)
	line, ok := bytes.CutPrefix(head[:n], []byte("#!"))
	if !ok {
		return ""
	}
	line, _, _ = bytes.Cut(line, []byte("\n"))
	return string(bytes.TrimSpace(line))
}

// ScriptEnvironment returns the variables that have an interpreter leave the folder of a script out, as Arguments does. command is that of
// the script's first line.
func ScriptEnvironment(command string) []string {
	for word := range strings.FieldsSeq(command) {
		if python.MatchString(filepath.Base(word)) {
			return []string{"PYTHONSAFEPATH=1", "PYTHONDONTWRITEBYTECODE=1"}
		}
	}
	return nil
}

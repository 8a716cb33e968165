package documents

import (
	"path"
	"slices"
	"strings"
)

const (
	// minMinified is how long a program is at least that counts as minified, and longLine how long its lines are then on
	// average, in bytes.
	minMinified = 2000
	longLine    = 400
)

// lockFiles are files in which package managers note what they have chosen.
var lockFiles = []string{
	"package-lock.json", "npm-shrinkwrap.json", "yarn.lock", "pnpm-lock.yaml", "bun.lock", "bun.lockb", "deno.lock", "composer.lock",
	"gemfile.lock", "cargo.lock",
	"poetry.lock", "pipfile.lock", "uv.lock", "pdm.lock", "pixi.lock", "conda-lock.yml", "go.sum", "go.work.sum", "flake.lock", "mix.lock",
	"rebar.lock", "pubspec.lock",
	"podfile.lock", "cartfile.resolved", "package.resolved", "packages.lock.json", "project.assets.json", "gradle.lockfile",
	"buildscript-gradle.lockfile",
	"cabal.project.freeze", "stack.yaml.lock", "shard.lock", "dub.selections.json", "module.bazel.lock", "chart.lock", "buf.lock",
	"yarn-error.log",
}

// IsGenerated reports whether a file of this name is made by a program for programs, or a drawing: lock files, minified
// files, maps of sources, SVG.
func IsGenerated(name string) bool {
	name = strings.ToLower(path.Base(name))
	switch ext := path.Ext(name); ext {
	case ".svg", ".svgz", ".map":
		return ext != ".map" || strings.HasSuffix(name, ".js.map") || strings.HasSuffix(name, ".css.map") || strings.HasSuffix(name, ".mjs.map")
	case ".js", ".mjs", ".cjs", ".css", ".html", ".json", ".xml":
		stem := strings.TrimSuffix(name, ext)
		if strings.HasSuffix(stem, ".min") || strings.HasSuffix(stem, "-min") || strings.HasSuffix(stem, ".bundle") {
			return true
		}
	}
	return slices.Contains(lockFiles, name)
}

// isMinified reports whether a text is a program or a style sheet without lines that people read.
func isMinified(ext, text string) bool {
	switch ext {
	case ".js", ".mjs", ".cjs", ".css":
		return len(text) >= minMinified && len(text)/(strings.Count(text, "\n")+1) >= longLine
	}
	return false
}

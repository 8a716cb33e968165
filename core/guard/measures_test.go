package guard

import (
	"go/ast"
	"go/token"
	"go/types"
	"maps"
	"path"
	"slices"
	"strings"
	"unicode"
)

// countMethods counts the methods of each type that has any.
func countMethods(_ *token.FileSet, all []source) map[string]int {
	out := map[string]int{}
	for dir, list := range production(all) {
		for _, s := range list {
			for _, d := range s.file.Decls {
				if f, ok := d.(*ast.FuncDecl); ok && f.Recv != nil && len(f.Recv.List) > 0 {
					if receiver := receiverType(f.Recv.List[0].Type); receiver != nil {
						out[dir+"."+receiver.Name]++
					}
				}
			}
		}
	}
	return out
}

// measureNames measures the names of each package, without its tests.
func measureNames(fset *token.FileSet, all []source) map[string]*nameMeasure {
	out := map[string]*nameMeasure{}
	for dir, list := range production(all) {
		out[dir] = &nameMeasure{}
		for _, s := range list {
			out[dir].addFile(fset, s.file)
		}
	}
	return out
}

// measureOneWordOfTrees returns the thousandths of unexported functions whose name is one word, for each tree.
func measureOneWordOfTrees(fset *token.FileSet, all []source) map[string]int {
	sums := map[string]*nameMeasure{}
	for dir, m := range measureNames(fset, all) {
		tree, _, _ := strings.Cut(dir, "/")
		if sums[tree] == nil {
			sums[tree] = &nameMeasure{}
		}
		sums[tree].unexported += m.unexported
		sums[tree].oneWord = append(sums[tree].oneWord, m.oneWord...)
	}
	out := map[string]int{}
	for tree, m := range sums {
		if m.unexported < 20 {
			continue
		}
		out[tree] = thousandths(len(m.oneWord), m.unexported)
	}
	return out
}

// measureOneWordOfPackages returns the same for each package with at least 20 unexported functions.
func measureOneWordOfPackages(fset *token.FileSet, all []source) map[string]int {
	out := map[string]int{}
	for dir, m := range measureNames(fset, all) {
		if m.unexported >= 20 {
			out[dir] = thousandths(len(m.oneWord), m.unexported)
		}
	}
	return out
}

// measureNamesInOf returns the thousandths of functions whose name ends in "Of", for each tree.
func measureNamesInOf(_ *token.FileSet, all []source) map[string]int {
	in, functions := map[string]int{}, map[string]int{}
	for dir, list := range production(all) {
		tree, _, _ := strings.Cut(dir, "/")
		for _, s := range list {
			for _, d := range s.file.Decls {
				if f, ok := d.(*ast.FuncDecl); ok {
					functions[tree]++
					if name := f.Name.Name; strings.HasSuffix(name, "Of") && len(name) > 2 && unicode.IsLower(rune(name[len(name)-3])) {
						in[tree]++
					}
				}
			}
		}
	}
	out := map[string]int{}
	for tree, n := range functions {
		out[tree] = thousandths(in[tree], n)
	}
	return out
}

// measureKnots returns the size of the largest knot of each package of the services: files of which each needs each other.
func measureKnots(fset *token.FileSet, all []source) map[string]int {
	out := map[string]int{}
	for dir, list := range production(all) {
		if !within(dir, "core/services") {
			continue
		}
		out[dir] = 0
		for _, knot := range findKnots(fileGraph(fset, list)) {
			if len(knot) > 1 {
				out[dir] = max(out[dir], len(knot))
			}
		}
	}
	return out
}

// measureArrowsBack returns, for each part of the tree, the thousandths of arrows that point back: uses between files of one package, when
// the files are put in the order that has few of them, among these and the imports of other packages, which never point back.
func measureArrowsBack(fset *token.FileSet, all []source) map[string]int {
	arrows, back := map[string]int{}, map[string]int{}
	for dir, list := range production(all) {
		part, _, _ := strings.Cut(dir, "/")
		if within(dir, "core/services") {
			part = "core/services"
		}
		for _, s := range list {
			for _, i := range s.file.Imports {
				if strings.HasPrefix(i.Path.Value, `"`+module) {
					arrows[part]++
				}
			}
		}
		graph := fileGraph(fset, list)
		place := map[string]int{}
		for i, file := range orderFiles(graph) {
			place[file] = i
		}
		for from, to := range graph {
			for file := range to {
				arrows[part]++
				if place[file] < place[from] {
					back[part]++
				}
			}
		}
	}
	out := map[string]int{}
	for part, n := range arrows {
		out[part] = thousandths(back[part], n)
	}
	return out
}

// noImports gives every import an empty package: uses between files of one package are found without the others.
type noImports struct{}

func (noImports) Import(name string) (*types.Package, error) {
	p := types.NewPackage(name, path.Base(name))
	p.MarkComplete()
	return p, nil
}

// fileGraph returns, for each file of a package, the other files whose functions, methods, types, constants or variables it uses.
func fileGraph(fset *token.FileSet, list []source) map[string]map[string]bool {
	graph := map[string]map[string]bool{}
	var parsed []*ast.File
	for _, s := range list {
		graph[s.path] = map[string]bool{}
		parsed = append(parsed, s.file)
	}
	info := types.Info{Uses: map[*ast.Ident]types.Object{}}
	conf := types.Config{Importer: noImports{}, Error: func(error) {}, DisableUnusedImportCheck: true}
	pkg, _ := conf.Check(path.Dir(list[0].path), fset, parsed, &info)
	for id, o := range info.Uses {
		if o.Pkg() != pkg || !o.Pos().IsValid() {
			continue
		}
		if v, ok := o.(*types.Var); ok && v.IsField() {
			continue
		}
		from, to := fset.Position(id.Pos()).Filename, fset.Position(o.Pos()).Filename
		if from != to {
			graph[from][to] = true
		}
	}
	return graph
}

// findKnots returns the strongly connected parts of a graph, each sorted, after Tarjan's algorithm.
func findKnots(graph map[string]map[string]bool) (out [][]string) {
	index, low, on := map[string]int{}, map[string]int{}, map[string]bool{}
	var stack []string
	var visit func(string)
	visit = func(v string) {
		index[v], low[v], on[v] = len(index)+1, len(index)+1, true
		stack = append(stack, v)
		for _, w := range slices.Sorted(maps.Keys(graph[v])) {
			if index[w] == 0 {
				visit(w)
				low[v] = min(low[v], low[w])
			} else if on[w] {
				low[v] = min(low[v], index[w])
			}
		}
		if low[v] != index[v] {
			return
		}
		i := slices.Index(stack, v)
		knot := slices.Clone(stack[i:])
		stack = stack[:i]
		for _, w := range knot {
			on[w] = false
		}
		slices.Sort(knot)
		out = append(out, knot)
	}
	for _, v := range slices.Sorted(maps.Keys(graph)) {
		if index[v] == 0 {
			visit(v)
		}
	}
	return out
}

// orderFiles puts users before what they use, as far as knots allow, after the greedy heuristic of Eades, Lin and Smyth.
func orderFiles(graph map[string]map[string]bool) []string {
	var first, last []string
	left := slices.Sorted(maps.Keys(graph))
	for len(left) > 0 {
		out, in := map[string]int{}, map[string]int{}
		for _, v := range left {
			for w := range graph[v] {
				if slices.Contains(left, w) {
					out[v]++
					in[w]++
				}
			}
		}
		best := 0
		for i, v := range left {
			if out[v] == 0 {
				best = i
				break
			}
			if u := left[best]; out[v]-in[v] > out[u]-in[u] {
				best = i
			}
		}
		v := left[best]
		if out[v] == 0 {
			last = append(last, v)
		} else {
			first = append(first, v)
		}
		left = slices.Delete(left, best, best+1)
	}
	slices.Reverse(last)
	return append(first, last...)
}

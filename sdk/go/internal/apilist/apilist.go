// Package apilist keeps a list of a package's public interface, so that a change of it is seen.
package apilist

import (
	"go/ast"
	"go/parser"
	"go/printer"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// Compare compares the public interface of the package in the current folder with its api.txt. After a change that
// is wanted, run sdk/go/generate.sh. Unlike the output of go doc, the list is the same with every version of Go.
func Compare(t *testing.T) {
	t.Helper()
	now := publicInterface(t)
	if os.Getenv("WRITE_API") != "" {
		if err := os.WriteFile("api.txt", []byte(now), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	committed, err := os.ReadFile("api.txt")
	if err != nil {
		t.Fatal(err)
	}
	if now != string(committed) {
		t.Error("the public interface is not that of api.txt: run sdk/go/generate.sh, and look at the difference")
	}
}

// publicInterface is the exported declarations of the package, sorted, without comments.
func publicInterface(t *testing.T) string {
	t.Helper()
	paths, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	files := token.NewFileSet()
	var declarations []string
	for _, path := range paths {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(files, path, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		ast.FileExports(file)
		for _, declaration := range file.Decls {
			if isPublic(declaration) {
				declarations = append(declarations, textOf(t, files, declaration))
			}
		}
	}
	slices.Sort(declarations)
	return strings.Join(declarations, "\n") + "\n"
}

func isPublic(declaration ast.Decl) bool {
	switch d := declaration.(type) {
	case *ast.GenDecl:
		return d.Tok != token.IMPORT
	case *ast.FuncDecl:
		d.Body = nil
		return d.Recv == nil || ast.IsExported(receiverOf(d.Recv.List[0].Type))
	}
	return false
}

// receiverOf is the name of the type that a method belongs to.
func receiverOf(expression ast.Expr) string {
	switch e := expression.(type) {
	case *ast.StarExpr:
		return receiverOf(e.X)
	case *ast.IndexExpr:
		return receiverOf(e.X)
	case *ast.IndexListExpr:
		return receiverOf(e.X)
	case *ast.Ident:
		return e.Name
	}
	return ""
}

// textOf prints a declaration as gofmt does, without the empty lines between its parts. Words have one space between
// them, because comments, which are not listed, decide what gofmt aligns.
func textOf(t *testing.T, files *token.FileSet, declaration ast.Decl) string {
	t.Helper()
	var text strings.Builder
	config := printer.Config{Mode: printer.UseSpaces | printer.TabIndent, Tabwidth: 8}
	if err := config.Fprint(&text, files, declaration); err != nil {
		t.Fatal(err)
	}
	dense := regexp.MustCompile(`\n\s*\n`).ReplaceAllString(text.String(), "\n")
	return regexp.MustCompile(`(\S) {2,}`).ReplaceAllString(dense, "$1 ")
}

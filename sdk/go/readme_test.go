package boxoffice

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"
)

// TestReadme builds and vets every example of the README as a package of its own.
func TestReadme(t *testing.T) {
	text, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	blocks := regexp.MustCompile("(?s)```go\n(.*?)```").FindAllSubmatch(text, -1)
	if len(blocks) < 4 {
		t.Fatalf("only %d examples", len(blocks))
	}
	// Inside the module, so that its requirements apply.
	folder, err := os.MkdirTemp("testdata", "readme")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(folder) })
	args := []string{"vet"}
	for i, block := range blocks {
		example := filepath.Join(folder, fmt.Sprintf("example%d", i))
		if err := os.Mkdir(example, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(example, "example.go"), block[1], 0o644); err != nil {
			t.Fatal(err)
		}
		args = append(args, "./"+example)
	}
	if out, err := exec.Command("go", args...).CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	if out, err := exec.Command("gofmt", "-l", folder).CombinedOutput(); err != nil || len(out) > 0 {
		t.Errorf("not formatted: %s %v", out, err)
	}
}

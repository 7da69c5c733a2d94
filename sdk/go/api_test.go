package boxoffice

import (
	"bytes"
	"os"
	"os/exec"
	"testing"
)

// TestAPI compares the public interface with api.txt. After a change that is wanted, run generate.sh.
func TestAPI(t *testing.T) {
	now, err := exec.Command("go", "doc", "-all", ".").Output()
	if err != nil {
		t.Fatalf("go doc: %v", err)
	}
	if os.Getenv("WRITE_API") != "" {
		if err := os.WriteFile("api.txt", now, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	committed, err := os.ReadFile("api.txt")
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(now, committed) {
		t.Error("the public interface is not that of api.txt: run sdk/go/generate.sh, and look at the difference")
	}
}

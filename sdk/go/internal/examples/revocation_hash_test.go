package examples

import (
	"os"
	"regexp"
	"testing"
)

// TestHashUser hashes what the comment in docs/revocations.md has.
func TestHashUser(t *testing.T) {
	page, err := os.ReadFile("../../../../docs/revocations.md")
	if err != nil {
		t.Fatal(err)
	}
	shown := regexp.MustCompile(`// \["epoch", "(\w+)", "(\w+)"\]: ([\w-]+)`).FindSubmatch(page)
	if shown == nil {
		t.Fatal("docs/revocations.md shows no example")
	}
	if hash := HashUser(string(shown[1]), string(shown[2])); hash != string(shown[3]) {
		t.Errorf("the hash is %s", hash)
	}
}

package vectors

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	boxoffice "boxoffice.example/boxoffice/sdk/go"
	"boxoffice.example/boxoffice/sdk/go/internal/leaks"
	"boxoffice.example/boxoffice/sdk/go/relay"
)

const folder = "../../../../docs/vectors"

func TestMain(m *testing.M) { leaks.Main(m) }

func TestTokens(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(folder, "*.json"))
	if err != nil {
		t.Fatal(err)
	}
	isFound := false
	for _, path := range files {
		var file tokenFile
		if err := readFile(path, &file); err != nil {
			t.Fatal(err)
		}
		if file.Vectors == nil || file.JWKS == nil {
			continue
		}
		isFound = true
		codes, err := Tokens(path, "")
		if err != nil {
			t.Fatal(err)
		}
		for _, vector := range file.Vectors {
			if got := codes[vector.Name]; !reflect.DeepEqual(got, vector.Code) {
				t.Errorf("%s: %s: got %s, want %s", filepath.Base(path), vector.Name, textOf(got), textOf(vector.Code))
			}
		}
	}
	if !isFound {
		t.Error("there are no vectors")
	}
}

func textOf(code *string) string {
	if code == nil {
		return "admitted"
	}
	return *code
}

func TestEveryCodeIsExplained(t *testing.T) {
	page, err := os.ReadFile(filepath.Join(folder, "../tokens.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, code := range relay.RefusalCodes() {
		if !strings.Contains(string(page), "`"+string(code)+"`") {
			t.Errorf("%s is not in docs/tokens.md", code)
		}
	}
}

func TestEveryCodeButOneHasAVector(t *testing.T) {
	codes, err := Tokens(filepath.Join(folder, "participant-tokens.json"), "")
	if err != nil {
		t.Fatal(err)
	}
	isCovered := map[relay.RefusalCode]bool{relay.KeysUnavailable: true}
	for _, code := range codes {
		if code != nil {
			isCovered[relay.RefusalCode(*code)] = true
		}
	}
	for _, code := range relay.RefusalCodes() {
		if !isCovered[code] {
			t.Errorf("%s has no vector", code)
		}
	}
}

func TestRevocations(t *testing.T) {
	path := filepath.Join(folder, "revocations.json")
	var file struct {
		Hashes []struct{ Hash string }
		Claims map[string]any
		Checks []struct {
			Name   string
			Code   *string
			Reason string
			Muted  []string
		}
	}
	if err := readFile(path, &file); err != nil {
		t.Fatal(err)
	}
	found, err := Revocations(path)
	if err != nil {
		t.Fatal(err)
	}
	results, _ := found.(RevocationResults)
	if results.JWS.Code != "" {
		t.Fatal(results.JWS.Code)
	}
	for index, want := range file.Hashes {
		if got := results.Hashes[index]; got != want.Hash {
			t.Errorf("hash %d: got %s, want %s", index, got, want.Hash)
		}
	}
	for name, got := range throughJSON(t, results.Claims) {
		if want := file.Claims[name]; !reflect.DeepEqual(got, want) {
			t.Errorf("%s: got %v, want %v", name, got, want)
		}
	}
	for _, want := range file.Checks {
		got := results.Checks[want.Name]
		isSame := reflect.DeepEqual(got.Code, want.Code) && got.Reason == want.Reason
		if !isSame || strings.Join(got.Muted, " ") != strings.Join(want.Muted, " ") {
			t.Errorf("%s: got %s %s %v", want.Name, textOf(got.Code), got.Reason, got.Muted)
		}
	}
}

func TestStatements(t *testing.T) {
	path := filepath.Join(folder, "statements.json")
	var file statementFile
	if err := readFile(path, &file); err != nil {
		t.Fatal(err)
	}
	found, err := Statements(path)
	if err != nil {
		t.Fatal(err)
	}
	results, _ := found.(map[string]StatementResult)
	isCovered := map[string]bool{}
	for _, want := range file.Vectors {
		got := results[want.Name]
		if want.Code != nil {
			isCovered[*want.Code] = true
			if got.Code != *want.Code || got.Statement != nil {
				t.Errorf("%s: got %q, want %s", want.Name, got.Code, *want.Code)
			}
			continue
		}
		if got.Code != "" || got.Statement.Month != "2026-10" || got.Statement.Closing.Micros != 52_999_996 {
			t.Errorf("%s: got %q and %+v", want.Name, got.Code, got.Statement)
		}
	}
	if len(isCovered) != 7 {
		t.Errorf("only %v have vectors", isCovered)
	}
}

func TestWebhooks(t *testing.T) {
	path := filepath.Join(folder, "webhooks.json")
	var file struct {
		Vectors []struct {
			Name  string
			Code  string
			Event *boxoffice.WebhookEvent
		}
	}
	if err := readFile(path, &file); err != nil {
		t.Fatal(err)
	}
	found, err := Webhooks(path)
	if err != nil {
		t.Fatal(err)
	}
	results, _ := found.(map[string]WebhookResult)
	if len(file.Vectors) == 0 || len(results) != len(file.Vectors) {
		t.Errorf("%d results of %d vectors", len(results), len(file.Vectors))
	}
	for _, want := range file.Vectors {
		got := results[want.Name]
		if got.Code != want.Code || eventText(t, got.Event) != eventText(t, want.Event) {
			t.Errorf("%s: got %+v, want %+v", want.Name, got, want)
		}
	}
}

// eventText is without the spaces that Data may have.
func eventText(t *testing.T, event *boxoffice.WebhookEvent) string {
	t.Helper()
	text, err := json.Marshal(event)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func throughJSON(t *testing.T, value any) map[string]any {
	t.Helper()
	text, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	var read map[string]any
	if err := json.Unmarshal(text, &read); err != nil {
		t.Fatal(err)
	}
	return read
}

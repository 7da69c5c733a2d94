package relay

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"
)

func TestAttemptsAreShownWithoutTheirSecrets(t *testing.T) {
	attempt := Attempt{Token: "the-token", Proof: "the-proof", URL: "https://relay.example/connect"}
	var out bytes.Buffer
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x"} {
		fmt.Fprintf(&out, verb+verb+"\n", attempt, &attempt)
	}
	slog.New(slog.NewJSONHandler(&out, nil)).Info("x", "attempt", attempt, "inside", struct{ Attempt Attempt }{attempt})
	text, err := json.Marshal(attempt)
	if err != nil {
		t.Fatal(err)
	}
	out.Write(text)
	for _, secret := range []string{"the-token", "the-proof", fmt.Sprintf("%x", "the-token")} {
		if strings.Contains(out.String(), secret) {
			t.Errorf("%s is in:\n%s", secret, out.String())
		}
	}
	if !strings.Contains(out.String(), attempt.URL) {
		t.Errorf("the address is missing in:\n%s", out.String())
	}
}

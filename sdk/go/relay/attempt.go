package relay

import (
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
)

// String shows the attempt without its token and its proof, which are secrets.
func (a Attempt) String() string {
	return fmt.Sprintf("relay.Attempt{Token: %q, Proof: %q, URL: %q, Method: %q, Address: %q}",
		masked(a.Token), masked(a.Proof), a.URL, a.Method, a.Address)
}

// Format shows the attempt without its secrets, whatever the verb is.
func (a Attempt) Format(state fmt.State, _ rune) {
	_, _ = io.WriteString(state, a.String())
}

// LogValue shows the attempt without its secrets.
func (a Attempt) LogValue() slog.Value {
	return slog.StringValue(a.String())
}

// MarshalJSON shows the attempt without its secrets.
func (a Attempt) MarshalJSON() ([]byte, error) {
	return json.Marshal(a.String())
}

func masked(secret string) string {
	if secret == "" {
		return ""
	}
	return "[hidden]"
}

package boxoffice

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"unique"
)

// secretMask is what is printed in place of a secret.
const secretMask = "[hidden]"

// Secret is an API key, a token, or another text that must not get into logs. However it is printed, logged or written
// as JSON, it is "[hidden]", also inside of other values; [Secret.Reveal] returns the text. The zero value is no secret,
// and prints as an empty text.
//
// JSON has the mask too, so store what Reveal returns. Secrets are equal if their texts are. To compare one with a text
// that a stranger sent, use crypto/subtle.
type Secret struct {
	// What is printed of it without methods, as in unexported fields, is an address.
	text unique.Handle[string]
}

// NewSecret makes a secret of a text, such as that of an environment variable.
func NewSecret(text string) Secret {
	if text == "" {
		return Secret{}
	}
	return Secret{unique.Make(text)}
}

// Reveal returns the text of the secret.
func (s Secret) Reveal() string {
	if s.IsZero() {
		return ""
	}
	return s.text.Value()
}

// IsZero tells whether there is no secret.
func (s Secret) IsZero() bool {
	return s == Secret{}
}

// String is the mask.
func (s Secret) String() string {
	if s.IsZero() {
		return ""
	}
	return secretMask
}

// Format writes the mask, whatever the verb is.
func (s Secret) Format(state fmt.State, verb rune) {
	if verb == 'q' || state.Flag('#') {
		_, _ = fmt.Fprintf(state, "%q", s.String())
		return
	}
	_, _ = io.WriteString(state, s.String())
}

// LogValue is the mask.
func (s Secret) LogValue() slog.Value {
	return slog.StringValue(s.String())
}

// MarshalJSON writes the mask.
func (s Secret) MarshalJSON() ([]byte, error) {
	return json.Marshal(s.String())
}

// UnmarshalJSON reads the text of the secret. A mask is an error: the secret was lost when it was written.
func (s *Secret) UnmarshalJSON(text []byte) error {
	var read string
	if err := json.Unmarshal(text, &read); err != nil {
		return err
	}
	if read == secretMask {
		return errors.New("boxoffice: a secret was masked when it was written")
	}
	*s = NewSecret(read)
	return nil
}

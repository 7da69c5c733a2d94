package boxoffice

import (
	"errors"
	"strings"
	"testing"
)

// internal/vectors has the statements that are verified and refused.
func TestVerifyStatementNeedsKeys(t *testing.T) {
	for _, keys := range []string{"", "{}", "[]", "null", `{"keys":{}}`} {
		statement, err := VerifyStatement("x", []byte(keys))
		if only(t, err, ErrInvalid); statement != nil {
			t.Errorf("%s: statement %v", keys, statement)
		}
	}
	_, err := VerifyStatement("x", []byte(`{"keys":[]}`))
	if !errors.Is(err, StatementMalformed) || !strings.Contains(err.Error(), "compact JWS (MALFORMED)") {
		t.Errorf("error %v", err)
	}
}

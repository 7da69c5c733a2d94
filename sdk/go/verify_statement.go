package boxoffice

import (
	"encoding/json"
	"fmt"

	"boxoffice.example/boxoffice/sdk/go/internal/jws"
	"boxoffice.example/boxoffice/sdk/go/internal/plainjson"
)

// StatementRefusal says why a text is no statement of the service: find it with [errors.As], or compare with [errors.Is].
type StatementRefusal string

// Why [VerifyStatement] refuses a text, in the order of its checks.
const (
	StatementMalformed      StatementRefusal = "MALFORMED"
	StatementWrongType      StatementRefusal = "WRONG_TYPE"
	StatementWrongAlgorithm StatementRefusal = "WRONG_ALGORITHM"
	StatementHeaderInvalid  StatementRefusal = "HEADER_INVALID"
	StatementUnknownKey     StatementRefusal = "UNKNOWN_KEY"
	StatementBadSignature   StatementRefusal = "BAD_SIGNATURE"
	StatementBadBody        StatementRefusal = "BAD_BODY"
)

var statementRefusals = map[StatementRefusal]string{
	StatementMalformed:      "it is not a compact JWS",
	StatementWrongType:      "its type is not statement+jwt",
	StatementWrongAlgorithm: "its algorithm is not ES256",
	StatementHeaderInvalid:  "its header must have alg, kid and typ, and nothing else",
	StatementUnknownKey:     "its key is not one of the keys",
	StatementBadSignature:   "the signature does not fit: it was altered, or signed by another key",
	StatementBadBody:        "it is signed, but is no statement of version 1",
}

// Error is the code with what it means.
func (r StatementRefusal) Error() string {
	return fmt.Sprintf("boxoffice: %s (%s)", statementRefusals[r], string(r))
}

// VerifyStatement returns the statement of a JWS, the text that [Billing.Statement] returns beside a statement, without a
// request. Keys is what /.well-known/statement-keys.json holds, a JSON Web Key Set. Use what this returns, and not the
// statement that lay beside the signature, and compare its Issuer, Tenant and Month with what you expect.
//
// The error is a [StatementRefusal] if none of the keys has signed the text as a statement, and [ErrInvalid] if keys is no
// set of keys. It does not add up the statement: the service has, before it signed.
func VerifyStatement(text string, keys []byte) (*Statement, error) {
	known, err := jws.ReadKeySet(keys)
	if err != nil {
		return nil, invalid("keys", "must be a JSON Web Key Set")
	}
	signed, ok := jws.Split(text)
	if !ok {
		return nil, StatementMalformed
	}
	switch header := signed.Header; {
	case header["typ"] != "statement+jwt":
		return nil, StatementWrongType
	case header["alg"] != "ES256":
		return nil, StatementWrongAlgorithm
	case !plainjson.HasExactly(header, "typ", "alg", "kid"):
		return nil, StatementHeaderInvalid
	}
	key, ok := known.Find(signed.Header["kid"])
	if !ok {
		return nil, StatementUnknownKey
	}
	if !signed.IsSignedBy(key) {
		return nil, StatementBadSignature
	}
	statement := new(Statement)
	if json.Unmarshal(signed.Payload, statement) != nil || statement.Version != 1 || statement.Issuer == "" || statement.Month == "" {
		return nil, StatementBadBody
	}
	return statement, nil
}

package relay

import (
	"crypto/ecdsa"

	"boxoffice.example/boxoffice/sdk/go/internal/jws"
	"boxoffice.example/boxoffice/sdk/go/internal/plainjson"
)

// jwsBytesMax is the length of a token, and of a proof.
const jwsBytesMax = 4096

// jwsKind is what a JWS is. It begins the codes of its refusals.
type jwsKind string

const (
	tokenJWS jwsKind = "TOKEN"
	proofJWS jwsKind = "PROOF"
)

func (k jwsKind) refuse(what string) error { return refuse(RefusalCode(string(k) + "_" + what)) }

// readJWS reads a token or a proof. Its header must have exactly the members.
func readJWS(text string, kind jwsKind, typ string, members ...string) (jws.JWS, error) {
	if len(text) > jwsBytesMax {
		return jws.JWS{}, kind.refuse("TOO_LARGE")
	}
	parsed, ok := jws.Split(text)
	if !ok {
		return jws.JWS{}, kind.refuse("MALFORMED")
	}
	if parsed.Header["typ"] != typ {
		return jws.JWS{}, kind.refuse("WRONG_TYPE")
	}
	if parsed.Header["alg"] != "ES256" {
		return jws.JWS{}, kind.refuse("WRONG_ALGORITHM")
	}
	if !plainjson.HasExactly(parsed.Header, members...) {
		return jws.JWS{}, kind.refuse("HEADER_INVALID")
	}
	return parsed, nil
}

// claimsBy returns the claims of a token or a proof after its signature has been verified.
func claimsBy(signed jws.JWS, key *ecdsa.PublicKey, kind jwsKind) (map[string]any, error) {
	if !signed.IsSignedBy(key) {
		return nil, kind.refuse("BAD_SIGNATURE")
	}
	claims, ok := plainjson.Object(signed.Payload)
	if !ok {
		return nil, kind.refuse("MALFORMED")
	}
	return claims, nil
}

package relay

import (
	"crypto/ecdsa"
	"crypto/sha256"
	"encoding/base64"
	"math/big"
	"strings"

	"boxoffice.example/boxoffice/sdk/go/relay/internal/plainjson"
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

// jws is a compact JWS (RFC 7515), not verified yet.
type jws struct {
	header    map[string]any
	payload   []byte
	signature []byte
	// signed is what the signature is over: the first two segments.
	signed string
}

// splitJWS reads three segments of canonical base64url, of which the first is a JSON object.
func splitJWS(text string) (parsed jws, ok bool) {
	segments := strings.Split(text, ".")
	if len(segments) != 3 {
		return jws{}, false
	}
	var decoded [3][]byte
	for at, segment := range segments {
		if decoded[at], ok = decodeSegment(segment); !ok {
			return jws{}, false
		}
	}
	header, ok := plainjson.Object(decoded[0])
	signed := text[:len(text)-len(segments[2])-1]
	return jws{header: header, payload: decoded[1], signature: decoded[2], signed: signed}, ok
}

// readJWS reads a token or a proof. Its header must have exactly the members.
func readJWS(text string, kind jwsKind, typ string, members ...string) (jws, error) {
	if len(text) > jwsBytesMax {
		return jws{}, kind.refuse("TOO_LARGE")
	}
	parsed, ok := splitJWS(text)
	if !ok {
		return jws{}, kind.refuse("MALFORMED")
	}
	if parsed.header["typ"] != typ {
		return jws{}, kind.refuse("WRONG_TYPE")
	}
	if parsed.header["alg"] != "ES256" {
		return jws{}, kind.refuse("WRONG_ALGORITHM")
	}
	if !plainjson.HasExactly(parsed.header, members...) {
		return jws{}, kind.refuse("HEADER_INVALID")
	}
	return parsed, nil
}

// claimsBy returns the claims of a token or a proof after its signature has been verified.
func (j jws) claimsBy(key *ecdsa.PublicKey, kind jwsKind) (map[string]any, error) {
	if !j.isSignedBy(key) {
		return nil, kind.refuse("BAD_SIGNATURE")
	}
	claims, ok := plainjson.Object(j.payload)
	if !ok {
		return nil, kind.refuse("MALFORMED")
	}
	return claims, nil
}

// isSignedBy verifies an ES256 signature, which is two numbers of 32 bytes.
func (j jws) isSignedBy(key *ecdsa.PublicKey) bool {
	if len(j.signature) != 64 {
		return false
	}
	digest := sha256.Sum256([]byte(j.signed))
	r, s := new(big.Int).SetBytes(j.signature[:32]), new(big.Int).SetBytes(j.signature[32:])
	return ecdsa.Verify(key, digest[:], r, s)
}

// decodeSegment decodes base64url in its canonical spelling alone. Otherwise the unused bits of the last character, and
// the line breaks that Go's decoder skips, would allow several texts for one signature.
func decodeSegment(segment string) (decoded []byte, ok bool) {
	decoded, err := base64.RawURLEncoding.Strict().DecodeString(segment)
	if err != nil || base64.RawURLEncoding.EncodedLen(len(decoded)) != len(segment) {
		return nil, false
	}
	return decoded, true
}

func encodeSegment(decoded []byte) string { return base64.RawURLEncoding.EncodeToString(decoded) }

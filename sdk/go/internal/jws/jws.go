// Package jws reads compact JWS (RFC 7515) that are signed with ES256: tokens, proofs, snapshots and statements.
package jws

import (
	"crypto/ecdsa"
	"crypto/sha256"
	"encoding/base64"
	"math/big"
	"strings"

	"boxoffice.example/boxoffice/sdk/go/internal/plainjson"
)

// JWS is a text that has the form of one, and is not verified yet.
type JWS struct {
	Header    map[string]any
	Payload   []byte
	signature []byte
	// signed is what the signature is over: the first two segments.
	signed string
}

// Split reads three segments of canonical base64url, of which the first is a JSON object.
func Split(text string) (parsed JWS, ok bool) {
	segments := strings.Split(text, ".")
	if len(segments) != 3 {
		return JWS{}, false
	}
	var decoded [3][]byte
	for at, segment := range segments {
		if decoded[at], ok = Decode(segment); !ok {
			return JWS{}, false
		}
	}
	header, ok := plainjson.Object(decoded[0])
	signed := text[:len(text)-len(segments[2])-1]
	return JWS{Header: header, Payload: decoded[1], signature: decoded[2], signed: signed}, ok
}

// IsSignedBy verifies the signature, which is two numbers of 32 bytes.
func (j JWS) IsSignedBy(key *ecdsa.PublicKey) bool {
	if len(j.signature) != 64 {
		return false
	}
	digest := sha256.Sum256([]byte(j.signed))
	r, s := new(big.Int).SetBytes(j.signature[:32]), new(big.Int).SetBytes(j.signature[32:])
	return ecdsa.Verify(key, digest[:], r, s)
}

// Decode decodes base64url in its canonical spelling alone. Otherwise the unused bits of the last character, and the line
// breaks that Go's decoder skips, would allow several texts for one signature.
func Decode(segment string) (decoded []byte, ok bool) {
	decoded, err := base64.RawURLEncoding.Strict().DecodeString(segment)
	if err != nil || base64.RawURLEncoding.EncodedLen(len(decoded)) != len(segment) {
		return nil, false
	}
	return decoded, true
}

// Encode is what Decode reads.
func Encode(decoded []byte) string { return base64.RawURLEncoding.EncodeToString(decoded) }

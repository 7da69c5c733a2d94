package jws

import (
	"crypto/ecdsa"
	"crypto/x509"
	"encoding/hex"
	"errors"

	"boxoffice.example/boxoffice/sdk/go/internal/plainjson"
)

// KeySet has public keys by their kid.
type KeySet map[string]*ecdsa.PublicKey

// ReadKeySet reads a JSON Web Key Set (RFC 7517). Keys that are not public P-256 keys with a kid are passed over.
func ReadKeySet(text []byte) (KeySet, error) {
	set, _ := plainjson.Object(text)
	list, ok := set["keys"].([]any)
	if !ok {
		return nil, errors.New("this is not a JSON Web Key Set")
	}
	keys := KeySet{}
	for _, each := range list {
		jwk, _ := each.(map[string]any)
		kid, ok := jwk["kid"].(string)
		if !ok || !isForSignatures(jwk) {
			continue
		}
		if key, ok := PublicKey(jwk); ok {
			keys[kid] = key
		}
	}
	return keys, nil
}

// Find returns the key of a kid, which is any JSON value.
func (k KeySet) Find(kid any) (*ecdsa.PublicKey, bool) {
	text, isText := kid.(string)
	key, ok := k[text]
	return key, ok && isText
}

func isForSignatures(jwk map[string]any) bool {
	_, isPrivate := jwk["d"]
	alg, use := jwk["alg"], jwk["use"]
	return !isPrivate && (alg == nil || alg == "ES256") && (use == nil || use == "sig")
}

// pkixPrefix is the DER form of a P-256 public key, up to the bytes of its point.
const pkixPrefix = "3059301306072a8648ce3d020106082a8648ce3d03010703420004"

// PublicKey makes a P-256 key of its coordinates. It reports whether they are a point of the curve, in 32 bytes each.
func PublicKey(jwk map[string]any) (*ecdsa.PublicKey, bool) {
	if jwk["kty"] != "EC" || jwk["crv"] != "P-256" {
		return nil, false
	}
	der, _ := hex.DecodeString(pkixPrefix)
	for _, name := range []string{"x", "y"} {
		text, _ := jwk[name].(string)
		coordinate, ok := Decode(text)
		if !ok || len(coordinate) != 32 {
			return nil, false
		}
		der = append(der, coordinate...)
	}
	parsed, err := x509.ParsePKIXPublicKey(der)
	if err != nil {
		return nil, false
	}
	key, ok := parsed.(*ecdsa.PublicKey)
	return key, ok
}

// Package hashes makes the hashes by which the revocation feed names users, devices, rooms and networks.
package hashes

import (
	"crypto/sha256"
	"encoding/base64"
	"strings"
)

// Of returns the hash of texts: base64url of the first 16 bytes of SHA-256 over them, with a zero byte between.
func Of(texts ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(texts, "\x00")))
	return base64.RawURLEncoding.EncodeToString(sum[:16])
}

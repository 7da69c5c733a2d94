package examples

import (
	"crypto/sha256"
	"encoding/base64"
	"strings"
)

// HashUser is the hash of a user in `epochs`, as docs/revocations.md shows it.
func HashUser(rid, sub string) string {
	sum := sha256.Sum256([]byte(strings.Join([]string{"epoch", rid, sub}, "\x00")))
	user := base64.RawURLEncoding.EncodeToString(sum[:16]) // ["epoch", "room_6f2d1c0e", "ann"]: xuJbc9CvnTfXK-3YRC-N_Q
	return user
}

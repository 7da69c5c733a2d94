package relay

import (
	"crypto/sha256"
	"fmt"
	"regexp"
	"strings"

	"boxoffice.example/boxoffice/sdk/go/internal/jws"
	"boxoffice.example/boxoffice/sdk/go/internal/plainjson"
)

// fingerprint is SHA-256 as 32 lower-case hex pairs with colons.
var fingerprint = regexp.MustCompile(`^[0-9a-f]{2}(:[0-9a-f]{2}){31}$`)

// verifyProof checks that the sender of the token holds the device key that it is bound to, signs here and now, and owns
// the other end of the DTLS connection: checks 8 and 9 of docs/tokens.md. It returns the fingerprint of the DTLS
// certificate that the device claims as its own.
//
// The format is that of RFC 9449 (DPoP). The relay's own challenge replaces the device's clock and the cache of used
// proofs.
func verifyProof(attempt Attempt, deviceThumbprint string) (dtlsFingerprint string, err error) {
	proof, err := readJWS(attempt.Proof, proofJWS, "dpop+jwt", "typ", "alg", "jwk")
	if err != nil {
		return "", err
	}
	jwk, _ := proof.Header["jwk"].(map[string]any)
	key, ok := jws.PublicKey(jwk)
	if !ok || !plainjson.HasExactly(jwk, "kty", "crv", "x", "y") {
		return "", refuse(ProofKeyInvalid)
	}
	claims, err := claimsBy(proof, key, proofJWS)
	if err != nil {
		return "", err
	}
	dtlsFingerprint, ok = wellFormed(claims)
	if !ok {
		return "", refuse(ProofClaimsInvalid)
	}
	if err := checkTarget(claims, attempt); err != nil {
		return "", err
	}
	if thumbprintOf(jwk) != deviceThumbprint {
		return "", refuse(ProofOtherDevice)
	}
	return dtlsFingerprint, nil
}

// wellFormed checks the claims that are not compared, and returns dtls_fp.
func wellFormed(claims map[string]any) (dtlsFingerprint string, ok bool) {
	jti, _ := claims["jti"].(string)
	hasText := strings.Trim(jti, "\n\r\u2028\u2029") != ""
	dtlsFingerprint, _ = claims["dtls_fp"].(string)
	_, hasTime := plainjson.Integer(claims["iat"])
	return dtlsFingerprint, hasText && hasTime && fingerprint.MatchString(dtlsFingerprint)
}

// checkTarget checks that the proof is for this connection. Its error is not a refusal if the relay's own address is
// wrong.
func checkTarget(claims map[string]any, attempt Attempt) error {
	if claims["htm"] != attempt.Method {
		return refuse(ProofOtherMethod)
	}
	own, ok := targetOf(attempt.URL)
	if !ok {
		return fmt.Errorf("relay: the address of this relay is not an absolute URL: %q", attempt.URL)
	}
	htu, _ := claims["htu"].(string)
	if target, ok := targetOf(htu); !ok || target != own {
		return refuse(ProofOtherURL)
	}
	ath := sha256.Sum256([]byte(attempt.Token))
	if claims["ath"] != jws.Encode(ath[:]) {
		return refuse(ProofOtherToken)
	}
	if claims["nonce"] != attempt.Challenge {
		return refuse(ProofOtherChallenge)
	}
	return nil
}

// thumbprintOf returns the RFC 7638 thumbprint of a P-256 key with canonical coordinates.
func thumbprintOf(jwk map[string]any) string {
	sum := sha256.Sum256(fmt.Appendf(nil, `{"crv":"P-256","kty":"EC","x":"%s","y":"%s"}`, jwk["x"], jwk["y"]))
	return jws.Encode(sum[:])
}

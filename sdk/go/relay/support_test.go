package relay

import (
	"context"
	"crypto/ecdh"
	"crypto/ecdsa"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/netip"
	"strings"
	"testing"
	"time"

	"boxoffice.example/boxoffice/sdk/go/internal/jws"
)

// A service that mints tokens, a device that proves its key, and a relay: all with fixed keys and times.
const (
	// nowSeconds is 2027-01-15T08:00:00Z.
	nowSeconds = 1_800_000_000
	testIssuer = "https://boxoffice.example"
	audience   = "relay:boxoffice.example"
	relayURL   = "https://relay.example/connect"
	roomUID    = "room_6f2d1c0e"
	tenant     = "t_e3131c22f12898a2"
	rangeSalt  = "2c5d0a71e94b4f6f8d13a7c0b6e2f951"
)

// object is a JSON object. A member that is absent is left out.
type object = map[string]any

type absentValue struct{}

var absent = absentValue{}

// keyPair is a reproducible key: the private scalar is the SHA-256 of its name.
type keyPair struct {
	private *ecdsa.PrivateKey
	x, y, d string
}

func keyNamed(name string) keyPair {
	scalar := sha256.Sum256([]byte(name))
	exchange, err := ecdh.P256().NewPrivateKey(scalar[:])
	if err != nil {
		panic(err)
	}
	der, err := x509.MarshalPKCS8PrivateKey(exchange)
	if err != nil {
		panic(err)
	}
	parsed, err := x509.ParsePKCS8PrivateKey(der)
	if err != nil {
		panic(err)
	}
	point := exchange.PublicKey().Bytes()
	return keyPair{
		private: parsed.(*ecdsa.PrivateKey),
		x:       jws.Encode(point[1:33]),
		y:       jws.Encode(point[33:]),
		d:       jws.Encode(scalar[:]),
	}
}

func (k keyPair) public() object {
	return object{"kty": "EC", "crv": "P-256", "x": k.x, "y": k.y}
}

func (k keyPair) thumbprint() string { return thumbprintOf(k.public()) }

var (
	signingKey = keyNamed("boxoffice test vectors: signing key")
	deviceKey  = keyNamed("boxoffice test vectors: device key")
	thiefKey   = keyNamed("boxoffice test vectors: another device key")
	nextKey    = keyNamed("boxoffice test vectors: next signing key")

	kid              = signingKey.thumbprint()
	deviceThumbprint = deviceKey.thumbprint()
	dtlsFingerprint  = fingerprintOf("dtls certificate of the device")
)

func fingerprintOf(certificate string) string {
	sum := sha256.Sum256([]byte(certificate))
	var pairs []string
	for _, each := range sum {
		pairs = append(pairs, hex.EncodeToString([]byte{each}))
	}
	return strings.Join(pairs, ":")
}

// with returns a copy of an object with changes.
func with(base object, changes ...object) object {
	changed := maps.Clone(base)
	for _, each := range changes {
		for name, value := range each {
			changed[name] = value
			if value == any(absent) {
				delete(changed, name)
			}
		}
	}
	return changed
}

func jwkOf(key keyPair, changes ...object) object {
	base := with(key.public(), object{"kid": key.thumbprint(), "alg": "ES256", "use": "sig"})
	return with(base, changes...)
}

func keySetOf(keys ...object) []byte { return mustJSON(object{"keys": keys}) }

func testJWKS() []byte { return keySetOf(jwkOf(signingKey)) }

func tokenHeader(changes ...object) object {
	return with(object{"alg": "ES256", "kid": kid, "typ": "participant+jwt"}, changes...)
}

func tokenClaims(changes ...object) object {
	return with(object{
		"iss": testIssuer, "aud": audience, "sub": "ann", "tid": tenant,
		"iat": nowSeconds, "nbf": nowSeconds, "exp": nowSeconds + 600, "jti": "q8w0c3c5d0m5l4v3s2a1ZQ",
		"cnf":  object{"jkt": deviceThumbprint},
		"room": "lobby", "rid": roomUID, "role": "host",
		"cap":  []string{"chat.send", "publish.audio", "subscribe.audio"},
		"rank": 80, "ep": 3, "key": "0f7e440556fe905a", "salt": rangeSalt,
	}, changes...)
}

func proofHeader(changes ...object) object {
	return with(object{"typ": "dpop+jwt", "alg": "ES256", "jwk": deviceKey.public()}, changes...)
}

func proofClaims(token, challenge string, changes ...object) object {
	ath := sha256.Sum256([]byte(token))
	return with(object{
		"jti": "5f0c1f5e-6f0e-4f0e-8f0e-0f0e0f0e0f0e", "htm": "CONNECT", "htu": relayURL, "iat": nowSeconds,
		"ath": jws.Encode(ath[:]), "nonce": challenge, "dtls_fp": dtlsFingerprint,
	}, changes...)
}

func mustJSON(value any) []byte {
	text, err := json.Marshal(value)
	if err != nil {
		panic(err)
	}
	return text
}

func signingInput(header object, claims any) string {
	return jws.Encode(mustJSON(header)) + "." + jws.Encode(mustJSON(claims))
}

// sign makes a signature by ES256, whatever the header says.
func sign(header object, claims any, key keyPair) string {
	input := signingInput(header, claims)
	digest := sha256.Sum256([]byte(input))
	r, s, err := ecdsa.Sign(rand.Reader, key.private, digest[:])
	if err != nil {
		panic(err)
	}
	signature := make([]byte, 64)
	r.FillBytes(signature[:32])
	s.FillBytes(signature[32:])
	return input + "." + jws.Encode(signature)
}

func mint(changes ...object) string { return sign(tokenHeader(), tokenClaims(changes...), signingKey) }

func prove(token, challenge string, changes ...object) string {
	return sign(proofHeader(), proofClaims(token, challenge, changes...), deviceKey)
}

// hashed makes the hashes of revocations, independently of the package.
func hashed(texts ...string) string {
	sum := sha256.New()
	for at, text := range texts {
		if at > 0 {
			sum.Write([]byte{0})
		}
		sum.Write([]byte(text))
	}
	return base64.RawURLEncoding.EncodeToString(sum.Sum(nil)[:16])
}

// hashedRange makes the value of a ban of a range. secret is the salt, or the uid of a room.
func hashedRange(secret, cidr string) string {
	prefix := netip.MustParsePrefix(cidr)
	network := prefix.Masked().Addr().AsSlice()
	return fmt.Sprintf("%d/%s", prefix.Bits(), hashed("range", secret, fmt.Sprintf("%x/%d", network, prefix.Bits())))
}

// stoppedClock does not advance.
type stoppedClock struct{}

func (stoppedClock) Now() time.Duration                     { return 0 }
func (stoppedClock) Wall() time.Time                        { return time.Unix(nowSeconds, 0) }
func (stoppedClock) AfterFunc(time.Duration, func()) func() { return func() {} }

// noNetwork fails every request, and counts them.
type noNetwork struct{ t *testing.T }

func (n noNetwork) RoundTrip(request *http.Request) (*http.Response, error) {
	n.t.Errorf("the relay asked the network for %s", request.URL)
	return nil, errors.New("no network")
}

// newRelay returns a relay that has the keys. Any use of the network fails the test.
func newRelay(t *testing.T, changes ...func(*VerifierOptions)) *Verifier {
	t.Helper()
	options := VerifierOptions{
		Issuer:     testIssuer,
		Audience:   audience,
		JWKS:       testJWKS(),
		Clock:      stoppedClock{},
		HTTPClient: &http.Client{Transport: noNetwork{t}},
	}
	for _, change := range changes {
		change(&options)
	}
	verifier, err := NewVerifier(options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(verifier.Close)
	return verifier
}

func attemptWith(token, proof, challenge string) Attempt {
	return Attempt{
		Token:           token,
		Proof:           proof,
		Challenge:       challenge,
		URL:             relayURL,
		Method:          "CONNECT",
		DTLSFingerprint: dtlsFingerprint,
	}
}

// attemptBy returns the attempt of the rightful device with a new challenge.
func attemptBy(relay *Verifier, token string) Attempt {
	challenge := relay.Challenge()
	return attemptWith(token, prove(token, challenge), challenge)
}

// verify returns the code of the refusal of an attempt; empty if it is admitted. Any other error fails the test.
func verify(t *testing.T, relay *Verifier, attempt Attempt) RefusalCode {
	t.Helper()
	_, err := relay.Verify(context.Background(), attempt)
	return refusalIn(t, err)
}

// refusalOf returns the code of an error; empty if it is not a refusal.
func refusalOf(err error) RefusalCode {
	var refused *RefusedError
	if errors.As(err, &refused) {
		return refused.Code
	}
	return ""
}

func refusalIn(t *testing.T, err error) RefusalCode {
	t.Helper()
	code := refusalOf(err)
	if err != nil && code == "" {
		t.Fatalf("not a refusal: %v", err)
	}
	if code != "" && (!errors.Is(err, code) || code.Message() == "") {
		t.Fatalf("%s is not in its error, or has no message", code)
	}
	return code
}

// present lets the rightful device present a token.
func present(t *testing.T, token string) RefusalCode {
	t.Helper()
	relay := newRelay(t)
	return verify(t, relay, attemptBy(relay, token))
}

func wantCode(t *testing.T, got, want RefusalCode) {
	t.Helper()
	if got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// until waits for a condition.
func until(t *testing.T, what string, condition func() bool) {
	t.Helper()
	for start := time.Now(); !condition(); time.Sleep(time.Millisecond) {
		if time.Since(start) > 10*time.Second {
			t.Fatalf("did not happen: %s", what)
		}
	}
}

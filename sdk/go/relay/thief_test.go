package relay

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"boxoffice.example/boxoffice/sdk/go/internal/jws"
)

// Attacks with a stolen or forged token. All are refused without the network.

// presentProof presents a valid token with a modified proof.
func presentProof(t *testing.T, claims, header object, key keyPair) RefusalCode {
	t.Helper()
	relay := newRelay(t)
	token, challenge := mint(), relay.Challenge()
	proof := sign(proofHeader(header), proofClaims(token, challenge, claims), key)
	return verify(t, relay, attemptWith(token, proof, challenge))
}

// presentOver presents a valid token and proof over a modified connection.
func presentOver(t *testing.T, change func(*Attempt)) RefusalCode {
	t.Helper()
	relay := newRelay(t)
	attempt := attemptBy(relay, mint())
	change(&attempt)
	return verify(t, relay, attempt)
}

func TestTheRightfulDeviceIsAdmitted(t *testing.T) {
	wantCode(t, present(t, mint()), "")
	wantCode(t, presentProof(t, nil, nil, deviceKey), "")
	wantCode(t, presentOver(t, func(*Attempt) {}), "")
}

func TestCopiedToken(t *testing.T) {
	thief := object{"jwk": thiefKey.public()}
	wantCode(t, presentOver(t, func(a *Attempt) { a.Proof = "" }), ProofMalformed)
	wantCode(t, presentProof(t, nil, thief, thiefKey), ProofOtherDevice)
	wantCode(t, presentProof(t, nil, nil, thiefKey), ProofBadSignature)
	wantCode(t, presentProof(t, nil, thief, deviceKey), ProofBadSignature)
	wantCode(t, presentOver(t, func(a *Attempt) { a.Proof = a.Token }), ProofWrongType)
}

func TestCopiedProofOnAnotherConnection(t *testing.T) {
	relay, other := newRelay(t), newRelay(t)
	attempt := attemptBy(relay, mint())
	wantCode(t, verify(t, relay, attempt), "")
	wantCode(t, verify(t, relay, attempt), ChallengeUnusable)

	copied := attempt
	copied.Challenge = relay.Challenge()
	wantCode(t, verify(t, relay, copied), ProofOtherChallenge)

	elsewhere := attemptBy(other, mint())
	wantCode(t, verify(t, relay, elsewhere), ChallengeUnusable)
	wantCode(t, verify(t, other, elsewhere), "")

	again := mint(object{"jti": "another"})
	challenge := relay.Challenge()
	wantCode(t, verify(t, relay, attemptWith(mint(), prove(again, challenge), challenge)), ProofOtherToken)
}

func TestCopiedProofClaims(t *testing.T) {
	other := fingerprintOf("dtls certificate of the thief")
	for _, each := range []struct {
		name   string
		want   RefusalCode
		claims object
	}{
		{"no challenge", ProofOtherChallenge, object{"nonce": absent}},
		{"an empty challenge", ProofOtherChallenge, object{"nonce": ""}},
		{"a challenge that is no text", ProofOtherChallenge, object{"nonce": 7}},
		{"another host", ProofOtherURL, object{"htu": "https://relay-2.example/connect"}},
		{"another path", ProofOtherURL, object{"htu": "https://relay.example/"}},
		{"another port", ProofOtherURL, object{"htu": "https://relay.example:8443/connect"}},
		{"another scheme", ProofOtherURL, object{"htu": "http://relay.example/connect"}},
		{"a user", ProofOtherURL, object{"htu": "https://ann@relay.example/connect"}},
		{"no URL", ProofOtherURL, object{"htu": "relay.example/connect"}},
		{"nothing as URL", ProofOtherURL, object{"htu": absent}},
		{"a list as URL", ProofOtherURL, object{"htu": []string{relayURL, "x"}}},
		{"a method in lower case", ProofOtherMethod, object{"htm": "connect"}},
		{"another method", ProofOtherMethod, object{"htm": "GET"}},
		{"an empty method", ProofOtherMethod, object{"htm": ""}},
		{"no method", ProofOtherMethod, object{"htm": absent}},
		{"no hash of the token", ProofOtherToken, object{"ath": absent}},
		{"another certificate", DTLSOtherCertificate, object{"dtls_fp": other}},
		{"an empty fingerprint", ProofClaimsInvalid, object{"dtls_fp": ""}},
		{"no fingerprint", ProofClaimsInvalid, object{"dtls_fp": absent}},
		{"a short fingerprint", ProofClaimsInvalid, object{"dtls_fp": dtlsFingerprint[3:]}},
		{"no jti", ProofClaimsInvalid, object{"jti": absent}},
		{"an empty jti", ProofClaimsInvalid, object{"jti": ""}},
		{"no iat", ProofClaimsInvalid, object{"iat": absent}},
		{"an iat that is no number", ProofClaimsInvalid, object{"iat": fmt.Sprint(nowSeconds)}},
	} {
		t.Run(each.name, func(t *testing.T) {
			wantCode(t, presentProof(t, each.claims, nil, deviceKey), each.want)
		})
	}
	wantCode(t, presentOver(t, func(a *Attempt) { a.DTLSFingerprint = other }), DTLSOtherCertificate)
	wantCode(t, presentOver(t, func(a *Attempt) { a.DTLSFingerprint = "" }), DTLSOtherCertificate)
	wantCode(t, verify(t, newRelay(t), attemptWith(mint(), prove(mint(), ""), "")), ProofOtherToken)
	token := mint()
	wantCode(t, verify(t, newRelay(t), attemptWith(token, prove(token, ""), "")), ChallengeUnusable)
}

func TestForgedProofKey(t *testing.T) {
	thief := thiefKey.public()
	for name, jwk := range map[string]any{
		"a private key":              with(thief, object{"d": thiefKey.d}),
		"a key off the curve":        with(thief, object{"y": thiefKey.x}),
		"the point at infinity":      with(thief, object{"x": "", "y": ""}),
		"zeros":                      with(thief, object{"x": jws.Encode(make([]byte, 32)), "y": jws.Encode(make([]byte, 32))}),
		"another spelling":           with(thief, object{"x": thiefKey.x + "="}),
		"a key of another curve":     with(thief, object{"crv": "P-384"}),
		"a symmetric key":            object{"kty": "oct", "k": "AAAA"},
		"a key with further members": with(thief, object{"key_ops": []string{"verify"}}),
		"a list":                     []any{thief},
		"a text":                     "key",
	} {
		t.Run(name, func(t *testing.T) {
			wantCode(t, presentProof(t, nil, object{"jwk": jwk}, thiefKey), ProofKeyInvalid)
		})
	}
	wantCode(t, presentProof(t, nil, object{"jwk": absent}, thiefKey), ProofHeaderInvalid)
}

func TestForgedProofHeader(t *testing.T) {
	for _, each := range []struct {
		want   RefusalCode
		header object
	}{
		{ProofWrongType, object{"typ": "JWT"}},
		{ProofWrongType, object{"typ": "participant+jwt"}},
		{ProofWrongAlgorithm, object{"alg": "none"}},
		{ProofWrongAlgorithm, object{"alg": "HS256"}},
		{ProofHeaderInvalid, object{"jku": "https://thief.example/keys"}},
		{ProofHeaderInvalid, object{"b64": false, "crit": []string{"b64"}}},
	} {
		wantCode(t, presentProof(t, nil, each.header, deviceKey), each.want)
	}
}

func TestForgedTokenAlgorithm(t *testing.T) {
	for _, alg := range []string{"none", "None", "NONE", ""} {
		unsigned := signingInput(tokenHeader(object{"alg": alg}), tokenClaims()) + "."
		wantCode(t, present(t, unsigned), TokenWrongAlgorithm)
	}
	for _, secret := range []string{signingKey.x, string(mustJSON(signingKey.public()))} {
		input := signingInput(tokenHeader(object{"alg": "HS256"}), tokenClaims())
		mac := hmac.New(sha256.New, []byte(secret))
		mac.Write([]byte(input))
		wantCode(t, present(t, input+"."+jws.Encode(mac.Sum(nil))), TokenWrongAlgorithm)

		hidden := signingInput(tokenHeader(), tokenClaims())
		sameLength := hmac.New(sha512.New, []byte(secret))
		sameLength.Write([]byte(hidden))
		wantCode(t, present(t, hidden+"."+jws.Encode(sameLength.Sum(nil))), TokenBadSignature)
	}
}

func TestForgedTokenHeader(t *testing.T) {
	by := func(header object, key keyPair) string { return sign(tokenHeader(header), tokenClaims(), key) }
	for _, typ := range []any{"JWT", "at+jwt", "dpop+jwt", "application/participant+jwt", "PARTICIPANT+JWT", absent} {
		wantCode(t, present(t, by(object{"typ": typ}, signingKey)), TokenWrongType)
	}
	wantCode(t, present(t, by(nil, thiefKey)), TokenBadSignature)
	retired := keyNamed("boxoffice test vectors: retired signing key")
	wantCode(t, present(t, by(object{"kid": "retired"}, retired)), TokenUnknownKey)
	for _, kid := range []any{
		"../../../../dev/null", "/etc/passwd", "' or 1=1 --", "https://thief.example/keys", kid + "\x00",
		"__proto__", "constructor", "toString", "", 0, nil, object{"toString": kid}, []string{kid},
	} {
		wantCode(t, present(t, by(object{"kid": kid}, thiefKey)), TokenUnknownKey)
	}
	for _, header := range []object{
		{"jwk": thiefKey.public()}, {"jku": "https://thief.example/keys"}, {"x5u": "https://thief.example/chain"},
		{"x5c": []string{"MIIB"}}, {"crit": []string{"exp"}, "exp": 1}, {"crit": []string{"b64"}, "b64": false},
		{"zip": "DEF"}, {"kid": absent},
	} {
		wantCode(t, present(t, by(header, thiefKey)), TokenHeaderInvalid)
	}
}

func TestForgedSignature(t *testing.T) {
	for _, text := range []string{strings.Repeat("0", 64), strings.Repeat("f", 128), strings.Repeat("00", 64), "01", ""} {
		signature, _ := hex.DecodeString(text)
		token := signingInput(tokenHeader(), tokenClaims()) + "." + jws.Encode(signature)
		wantCode(t, present(t, token), TokenBadSignature)
	}
}

// A longer spelling of the second number.
func TestSignatureWithAZeroInTheMiddle(t *testing.T) {
	token := mint()
	at := strings.LastIndex(token, ".") + 1
	signature, _ := jws.Decode(token[at:])
	longer := bytes.Join([][]byte{signature[:32], {0}, signature[32:]}, nil)
	wantCode(t, present(t, token[:at]+jws.Encode(longer)), TokenBadSignature)
}

func TestTokenOfTheService(t *testing.T) {
	for _, each := range []struct {
		name   string
		want   RefusalCode
		claims object
	}{
		{"from another issuer", TokenWrongIssuer, object{"iss": "https://other.example"}},
		{"from an issuer with a slash more", TokenWrongIssuer, object{"iss": testIssuer + "/"}},
		{"without an issuer", TokenWrongIssuer, object{"iss": absent}},
		{"for another audience", TokenWrongAudience, object{"aud": "relay:other.example"}},
		{"for several audiences", TokenWrongAudience, object{"aud": []string{audience}}},
		{"that ends now", TokenExpired, object{"iat": nowSeconds - 600, "nbf": nowSeconds - 600, "exp": nowSeconds}},
		{"that ended a second ago", TokenExpired, object{"iat": nowSeconds - 601, "nbf": nowSeconds - 601, "exp": nowSeconds - 1}},
		{"that never ends", TokenClaimsInvalid, object{"exp": absent}},
		{"that ends as a text", TokenClaimsInvalid, object{"exp": fmt.Sprint(nowSeconds + 600)}},
		{"that ends at infinity", TokenClaimsInvalid, object{"exp": 1e300}},
		{"issued 61 seconds from now", TokenNotYetValid, object{"iat": nowSeconds + 61}},
		{"valid 61 seconds from now", TokenNotYetValid, object{"nbf": nowSeconds + 61}},
		{"that lives 901 seconds", TokenLivesTooLong, object{"exp": nowSeconds + 901}},
		{"that ends before it begins", TokenLivesTooLong, object{"iat": nowSeconds + 5, "exp": nowSeconds + 5}},
		{"that is bound to nothing", TokenNotBound, object{"cnf": absent}},
		{"that is bound to null", TokenNotBound, object{"cnf": nil}},
		{"that is bound by something else", TokenNotBound, object{"cnf": object{"x5t#S256": strings.Repeat("x", 43)}}},
		{"that is bound by two things", TokenNotBound, object{"cnf": object{"jkt": strings.Repeat("x", 43), "kid": "any"}}},
		{"that is bound by a short thumbprint", TokenNotBound, object{"cnf": object{"jkt": strings.Repeat("x", 42)}}},
		{"of an unknown role", TokenClaimsInvalid, object{"role": "owner"}},
		{"with capabilities that are no list", TokenClaimsInvalid, object{"cap": "publish.audio"}},
		{"with capabilities that are no texts", TokenClaimsInvalid, object{"cap": []any{object{}}}},
		{"without a user", TokenClaimsInvalid, object{"sub": ""}},
		{"without a room", TokenClaimsInvalid, object{"room": absent}},
		{"without an epoch", TokenClaimsInvalid, object{"ep": absent}},
		{"with a negative epoch", TokenClaimsInvalid, object{"ep": -1}},
		{"of another tenant", TenantNotServed, object{"tid": "t_0000000000000000"}},
		{"for another room", RoomNotServed, object{"room": "attic"}},
		{"for the room that had the name before", RoomNotCurrent, object{"rid": "room_00000000"}},
	} {
		t.Run(each.name, func(t *testing.T) {
			relay := newRelay(t, func(o *VerifierOptions) {
				o.ServesTenant = func(served string) bool { return served == tenant }
				o.ServesRoom = func(room string) bool { return room == "lobby" }
				o.CurrentRoomUID = func(string, string) string { return roomUID }
			})
			wantCode(t, verify(t, relay, attemptBy(relay, mint(each.claims))), each.want)
		})
	}
}

func TestRevokedToken(t *testing.T) {
	for _, each := range []struct {
		want   RefusalCode
		change func(*Revocations)
	}{
		{"", func(*Revocations) {}},
		{TokenRevoked, func(r *Revocations) { r.Epochs = []UserEpoch{{hashed("epoch", roomUID, "ann"), 4}} }},
		{Banned, func(r *Revocations) { r.Bans = []Ban{{"*", BannedUser, hashed("user", tenant, "ann"), time.Time{}}} }},
		{RoomClosed, func(r *Revocations) { r.ClosedRooms = []string{hashed("room", roomUID)} }},
		{RevocationsStale, func(r *Revocations) { r.ExpiresAt = time.Unix(nowSeconds, 0) }},
	} {
		snapshot := &Revocations{Seq: 1, ExpiresAt: time.Unix(nowSeconds+60, 0)}
		each.change(snapshot)
		relay := newRelay(t, func(o *VerifierOptions) {
			o.Revocations = func(string) *Revocations { return snapshot }
		})
		wantCode(t, verify(t, relay, attemptBy(relay, mint())), each.want)
	}
}

func TestGarbage(t *testing.T) {
	long := strings.Repeat("a", 4097)
	wantCode(t, presentOver(t, func(a *Attempt) { a.Token = long }), TokenTooLarge)
	wantCode(t, presentOver(t, func(a *Attempt) { a.Proof = long }), ProofTooLarge)
	wantCode(t, presentOver(t, func(a *Attempt) { a.Token = long[1:] }), TokenMalformed)
	wantCode(t, present(t, mint(object{"pad": strings.Repeat("x", 4096)})), TokenTooLarge)
	for _, text := range []string{
		"e30.e30", "e30.e30.e30.e30", "e30.e30.e30.e30.e30", "e30=.e30.AAAA", "+/+/.e30.AAAA", " e30.e30.AAAA",
		"e30\n.e30.AAAA", "e30.e30.AAAA\n",
		jws.Encode([]byte("[]")) + ".e30.AAAA", jws.Encode([]byte("null")) + ".e30.AAAA",
		jws.Encode([]byte("{\xff}")) + ".e30.AAAA", jws.Encode([]byte("{} {}")) + ".e30.AAAA",
		jws.Encode([]byte("{\"typ\":\"\xff\"}")) + ".e30.AAAA",
		`{"payload":"","protected":"","signature":""}`,
	} {
		wantCode(t, presentOver(t, func(a *Attempt) { a.Token = text }), TokenMalformed)
		wantCode(t, presentOver(t, func(a *Attempt) { a.Proof = text }), ProofMalformed)
	}
	for _, payload := range []any{[]any{}, nil, 7, "text"} {
		wantCode(t, present(t, sign(tokenHeader(), payload, signingKey)), TokenMalformed)
	}
}

// A member that is given twice counts as its last value, as in the other SDKs.
func TestMembersThatAreGivenTwice(t *testing.T) {
	signRaw := func(claims string) string {
		signed := sign(tokenHeader(), rawJSON(claims), signingKey)
		return signed
	}
	claims := string(mustJSON(tokenClaims()))
	first := strings.Replace(claims, "{", `{"iss":"https://other.example",`, 1)
	last := strings.TrimSuffix(claims, "}") + `,"iss":"https://other.example"}`
	wantCode(t, present(t, signRaw(first)), "")
	wantCode(t, present(t, signRaw(last)), TokenWrongIssuer)
	huge := strings.TrimSuffix(claims, "}") + `,"other":1e999}`
	wantCode(t, present(t, signRaw(huge)), "")
	spelled := strings.Replace(claims, fmt.Sprintf(`"exp":%d`, nowSeconds+600), `"exp":1.8000006e9`, 1)
	wantCode(t, present(t, signRaw(spelled)), "")
}

// rawJSON is signed as it is.
type rawJSON string

func (r rawJSON) MarshalJSON() ([]byte, error) { return []byte(r), nil }

func TestSignedClaimsOfAnyKind(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	values := []any{
		nil, true, false, 0, -1, 0.5, 1e300, math.MaxInt64, "", "x", "\x00", "😀", []any{}, []any{nil}, object{},
		object{"jkt": 7}, []string{""}, absent, strings.Repeat("9", 40),
	}
	relay := newRelay(t)
	for range 300 {
		change := func(names []string) object {
			return object{names[random.IntN(len(names))]: values[random.IntN(len(values))]}
		}
		token := mint(change(keysOf(tokenClaims())))
		challenge := relay.Challenge()
		proof := prove(token, challenge, change(keysOf(proofClaims("", ""))))
		// Some values are as valid as the original (another jti); none may cause another kind of error.
		verify(t, relay, attemptWith(token, proof, challenge))
	}
}

func keysOf(of object) []string {
	var names []string
	for name := range of {
		names = append(names, name)
	}
	return names
}

func TestNoCharacterCanBeChanged(t *testing.T) {
	const characters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.=\n\r é"
	relay := newRelay(t)
	attempt := attemptBy(relay, mint())
	for _, of := range []func(*Attempt) *string{
		func(a *Attempt) *string { return &a.Token },
		func(a *Attempt) *string { return &a.Proof },
	} {
		original := *of(&attempt)
		for at := range original {
			every := 7
			if at == len(original)-1 {
				every = 1
			}
			for index, character := range characters {
				if (index+at)%every != 0 || string(character) == original[at:at+1] {
					continue
				}
				changed := attempt
				*of(&changed) = original[:at] + string(character) + original[at+1:]
				if verify(t, relay, changed) == "" {
					t.Fatalf("%q at %d is accepted", character, at)
				}
			}
		}
	}
	wantCode(t, verify(t, relay, attempt), "")
}

func TestRefusalsRevealNothing(t *testing.T) {
	secret := hex.EncodeToString(bytes.Repeat([]byte{0xa7}, 16))
	token := mint(object{"sub": secret, "exp": 1})
	for _, text := range []string{
		jws.Encode([]byte(`{"typ":"`+secret)) + ".e30.AAAA", token, token[:len(token)-9], secret + "." + secret + "." + secret,
	} {
		for _, change := range []func(*Attempt){
			func(a *Attempt) { a.Token = text },
			func(a *Attempt) { a.Proof = text },
		} {
			relay := newRelay(t)
			attempt := attemptBy(relay, mint())
			change(&attempt)
			_, err := relay.Verify(context.Background(), attempt)
			told := fmt.Sprintf("%v %+v %#v %v", err, err, err, errors.Unwrap(err))
			for _, part := range append(strings.Split(text, "."), secret) {
				if len(part) > 8 && strings.Contains(told, part) {
					t.Errorf("%s reveals %s", told, part)
				}
			}
		}
	}
}

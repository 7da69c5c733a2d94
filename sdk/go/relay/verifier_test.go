package relay

import (
	"context"
	"errors"
	"reflect"
	"sync"
	"testing"
	"time"

	"boxoffice.example/boxoffice/sdk/go/internal/jws"
)

func TestVerifyReturnsUserGrantAndExpiry(t *testing.T) {
	relay := newRelay(t)
	admission, err := relay.Verify(context.Background(), attemptBy(relay, mint()))
	if err != nil {
		t.Fatal(err)
	}
	want := &Admission{
		TokenClaims: TokenClaims{
			Tenant:           tenant,
			Username:         "ann",
			Room:             "lobby",
			RoomUID:          roomUID,
			Role:             "host",
			Capabilities:     []string{"chat.send", "publish.audio", "subscribe.audio"},
			Rank:             80,
			Epoch:            3,
			DeviceThumbprint: deviceThumbprint,
			IssuedAt:         time.Unix(nowSeconds, 0).UTC(),
			ExpiresAt:        time.Unix(nowSeconds+600, 0).UTC(),
			TokenID:          "q8w0c3c5d0m5l4v3s2a1ZQ",
			MintedBy:         "0f7e440556fe905a",
			RangeSalt:        rangeSalt,
		},
		Muted: []string{},
	}
	if !reflect.DeepEqual(admission, want) {
		t.Errorf("got %+v", admission)
	}
}

func TestVerifyAcceptsTheLimits(t *testing.T) {
	for _, claims := range []object{
		{"exp": nowSeconds + 900},
		{"iat": nowSeconds - 599, "nbf": nowSeconds - 599, "exp": nowSeconds + 1},
		{"iat": nowSeconds + 60, "nbf": nowSeconds + 60},
	} {
		wantCode(t, present(t, mint(claims)), "")
	}
}

func TestVerifyTakesAFingerprintInUpperCase(t *testing.T) {
	wantCode(t, presentOver(t, func(a *Attempt) { a.DTLSFingerprint = upper(a.DTLSFingerprint) }), "")
}

func upper(text string) string {
	bytes := []byte(text)
	for at, each := range bytes {
		if each >= 'a' && each <= 'f' {
			bytes[at] = each - 'a' + 'A'
		}
	}
	return string(bytes)
}

func TestVerifyChecksCreditLastAndForTheTenantOfTheToken(t *testing.T) {
	var asked []string
	relay := newRelay(t, func(o *VerifierOptions) {
		o.Admitted = func(tenant string) bool {
			asked = append(asked, tenant)
			return false
		}
	})
	wantCode(t, verify(t, relay, attemptBy(relay, mint(object{"exp": nowSeconds}))), TokenExpired)
	other := attemptBy(relay, mint())
	other.DTLSFingerprint = "00"
	wantCode(t, verify(t, relay, other), DTLSOtherCertificate)
	if len(asked) != 0 {
		t.Errorf("asked for %v", asked)
	}
	wantCode(t, verify(t, relay, attemptBy(relay, mint())), NotAdmitted)
	if !reflect.DeepEqual(asked, []string{tenant}) {
		t.Errorf("asked for %v", asked)
	}
}

func TestVerifyAdmitsOneOfTwentyEqualAttempts(t *testing.T) {
	relay := newRelay(t)
	attempt := attemptBy(relay, mint())
	codes := make([]RefusalCode, 20)
	var all sync.WaitGroup
	for index := range codes {
		all.Add(1)
		go func() {
			defer all.Done()
			_, err := relay.Verify(context.Background(), attempt)
			codes[index] = refusalOf(err)
		}()
	}
	all.Wait()
	count := map[RefusalCode]int{}
	for _, code := range codes {
		count[code]++
	}
	if count[""] != 1 || count[ChallengeUnusable] != 19 {
		t.Errorf("got %v", count)
	}
}

func TestVerifyFailsWhenTheRelayDoesNotKnowItsAddress(t *testing.T) {
	relay := newRelay(t)
	attempt := attemptBy(relay, mint())
	attempt.URL = "connect"
	_, err := relay.Verify(context.Background(), attempt)
	var refused *RefusedError
	if err == nil || errors.As(err, &refused) {
		t.Errorf("got %v", err)
	}
}

func TestNewVerifierChecksItsOptions(t *testing.T) {
	for name, options := range map[string]VerifierOptions{
		"no issuer":       {Audience: audience, JWKS: testJWKS()},
		"no audience":     {Issuer: testIssuer, JWKS: testJWKS()},
		"no keys":         {Issuer: testIssuer, Audience: audience},
		"keys twice":      {Issuer: testIssuer, Audience: audience, JWKS: testJWKS(), JWKSURL: "https://boxoffice.example"},
		"keys of nothing": {Issuer: testIssuer, Audience: audience, JWKS: []byte("{}")},
	} {
		if _, err := NewVerifier(options); err == nil {
			t.Errorf("%s is accepted", name)
		}
	}
}

func TestChallengesAreDifferent(t *testing.T) {
	relay := newRelay(t)
	seen := map[string]bool{}
	for range 100 {
		challenge := relay.Challenge()
		if bytes, ok := jws.Decode(challenge); !ok || len(bytes) != 32 || seen[challenge] {
			t.Errorf("got %s", challenge)
		}
		seen[challenge] = true
	}
}

type movedClock struct {
	stoppedClock
	now time.Duration
}

func (c *movedClock) Now() time.Duration { return c.now }

func TestChallengesLastForAMinute(t *testing.T) {
	clock := &movedClock{}
	relay := newRelay(t, func(o *VerifierOptions) { o.Clock = clock })
	first, second := attemptBy(relay, mint()), attemptBy(relay, mint())
	clock.now = time.Minute - time.Millisecond
	wantCode(t, verify(t, relay, first), "")
	clock.now = time.Minute
	wantCode(t, verify(t, relay, second), ChallengeUnusable)
}

func TestAHundredThousandChallengesAreKept(t *testing.T) {
	relay := newRelay(t)
	oldest, next := attemptBy(relay, mint()), attemptBy(relay, mint())
	for range challengesMax - 1 {
		relay.Challenge()
	}
	wantCode(t, verify(t, relay, oldest), ChallengeUnusable)
	wantCode(t, verify(t, relay, next), "")
}

func renew(t *testing.T, relay *Verifier, previous Participant, token string) RefusalCode {
	t.Helper()
	_, err := relay.Renew(context.Background(), previous, attemptBy(relay, token))
	return refusalIn(t, err)
}

func TestRenew(t *testing.T) {
	isAdmitted := true
	relay := newRelay(t, func(o *VerifierOptions) { o.Admitted = func(string) bool { return isAdmitted } })
	attempt := attemptBy(relay, mint())
	admission, err := relay.Verify(context.Background(), attempt)
	if err != nil {
		t.Fatal(err)
	}
	previous := admission.Participant()

	isAdmitted = false
	wantCode(t, renew(t, relay, previous, mint(object{"role": "audience", "exp": nowSeconds + 900})), "")
	for _, claims := range []object{{"sub": "bob"}, {"rid": "room_00000000"}, {"tid": "t_0000000000000000"}} {
		wantCode(t, renew(t, relay, previous, mint(claims)), RenewalOtherParticipant)
	}
	elsewhere := previous
	elsewhere.DeviceThumbprint = thiefKey.thumbprint()
	wantCode(t, renew(t, relay, elsewhere, mint()), RenewalOtherParticipant)

	_, err = relay.Renew(context.Background(), previous, attempt)
	wantCode(t, refusalIn(t, err), ChallengeUnusable)
}

func TestRenewRefusesAUserWhoWasKickedSince(t *testing.T) {
	snapshot := &Revocations{Seq: 1, ExpiresAt: time.Unix(nowSeconds+60, 0)}
	relay := newRelay(t, func(o *VerifierOptions) {
		o.Revocations = func(string) *Revocations { return snapshot }
	})
	admission, err := relay.Verify(context.Background(), attemptBy(relay, mint()))
	if err != nil {
		t.Fatal(err)
	}
	kicked := *snapshot
	kicked.Epochs = []UserEpoch{{hashed("epoch", roomUID, "ann"), 4}}
	snapshot = &kicked
	wantCode(t, renew(t, relay, admission.Participant(), mint()), TokenRevoked)
	wantCode(t, renew(t, relay, admission.Participant(), mint(object{"ep": 4})), "")
}

func BenchmarkVerify(b *testing.B) {
	relay, err := NewVerifier(VerifierOptions{
		Issuer: testIssuer, Audience: audience, JWKS: testJWKS(), Clock: stoppedClock{},
	})
	if err != nil {
		b.Fatal(err)
	}
	token := mint()
	attempts := make([]Attempt, b.N)
	for index := range attempts {
		challenge := relay.Challenge()
		attempts[index] = attemptWith(token, prove(token, challenge), challenge)
	}
	b.ResetTimer()
	for _, attempt := range attempts {
		if _, err := relay.Verify(context.Background(), attempt); err != nil {
			b.Fatal(err)
		}
	}
}

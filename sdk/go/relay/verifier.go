package relay

import (
	"context"
	"crypto/rand"
	"errors"
	"net/http"
	"net/netip"
	"strings"

	"boxoffice.example/boxoffice/sdk/go/relay/internal/wait"
	"boxoffice.example/boxoffice/sdk/go/relay/usage"
)

// Clock is replaceable, so that tests need not sleep.
type Clock = usage.Clock

// VerifierOptions say whose tokens are accepted. The functions may be called at the same time from several goroutines.
type VerifierOptions struct {
	// Issuer is iss of the tokens: the base URL of the deployment.
	Issuer string
	// Audience is aud of the tokens: relay: and the host of the deployment.
	Audience string
	// JWKSURL is the address of the service's keys, which are fetched and kept: /.well-known/jwks.json.
	JWKSURL string
	// JWKS is the keys themselves, a JSON Web Key Set, instead of JWKSURL. Nothing is fetched then. Keys that are not public
	// P-256 keys with a kid are passed over.
	JWKS []byte
	// ServesTenant tells whether a tenant is served here. Default: all are.
	ServesTenant func(tenant string) bool
	// ServesRoom tells whether a room of this name is served here. Default: all are.
	ServesRoom func(room string) bool
	// CurrentRoomUID returns the uid of the room that has the name now; empty if the relay does not know it.
	CurrentRoomUID func(tenant, room string) string
	// Revocations returns the newest snapshot of the tenant: [Feed.Get]. Nil while there is none, which refuses all
	// participants. Default: revocations are not checked.
	Revocations func(tenant string) *Revocations
	// Admitted tells whether the tenant has credit for new sessions. Default: all have.
	Admitted func(tenant string) bool
	// BudgetReached tells whether one of these budgets of the tenant is spent: [Feed.BudgetReached]. Then new sessions are
	// refused with [NotAdmitted]. Default: none is.
	BudgetReached func(tenant string, budgets []string) bool
	// HTTPClient fetches the keys. It follows no redirections. Default: one with the proxy of the environment.
	HTTPClient *http.Client
	// Clock is for tests.
	Clock Clock
	// Random fills challenges, for tests. Default: [rand.Read].
	Random func([]byte)
}

// Attempt is what a device presents, and what the relay knows about the connection.
type Attempt struct {
	// Token is the participant token.
	Token string
	// Proof is the device's proof that the token is its own.
	Proof string
	// Challenge was issued for this connection. It comes from the relay's memory.
	Challenge string
	// URL is the address of this relay for devices, from the relay's settings; never from a request header.
	URL string
	// Method is what the proof names: CONNECT, unless the relay chose another.
	Method string
	// DTLSFingerprint is SHA-256 of the device's DTLS certificate, from the DTLS connection: 32 hex pairs with colons.
	DTLSFingerprint string
	// Address is the device's IP address. It is needed only if addresses are banned.
	Address netip.Addr
}

// Admission is an admitted participant, until ExpiresAt.
type Admission struct {
	TokenClaims
	// Muted is what a moderator has muted: any of audio, video, screen, data.
	Muted []string
}

// Participant is the user, room and device of a session: see [TokenClaims.Participant].
type Participant struct {
	// As in [TokenClaims].
	Tenant, Username, RoomUID, DeviceThumbprint string
}

// Participant returns the user, room and device of a token.
func (c *TokenClaims) Participant() Participant {
	return Participant{c.Tenant, c.Username, c.RoomUID, c.DeviceThumbprint}
}

// Verifier decides on admission at a relay, without a request to the service. It is for concurrent use.
//
// docs/tokens.md explains the twelve checks, their order and their codes.
type Verifier struct {
	options    VerifierOptions
	expected   expectedToken
	challenges *challenges
}

// NewVerifier creates the verifier of a relay. It opens nothing: signing keys are fetched from JWKSURL on first use, and
// cached for ten minutes. Its error is about the options.
func NewVerifier(options VerifierOptions) (*Verifier, error) {
	if options.Issuer == "" || options.Audience == "" {
		return nil, errors.New("relay: Issuer and Audience are required")
	}
	if options.Clock == nil {
		options.Clock = wait.System()
	}
	if options.Random == nil {
		// It never fails: see its documentation.
		options.Random = func(bytes []byte) { _, _ = rand.Read(bytes) }
	}
	keys, err := keysFrom(options.JWKS, options.JWKSURL, options.HTTPClient, options.Clock)
	if err != nil {
		return nil, err
	}
	return &Verifier{
		options:    options,
		expected:   expectedToken{options.Issuer, options.Audience, keys, options.Clock},
		challenges: newChallenges(options.Clock, options.Random),
	}, nil
}

// Close ends a fetch of keys that is in progress, and waits for its end. It is optional: a fetch ends within 5 seconds.
func (v *Verifier) Close() { v.expected.keys.close() }

// Challenge returns a new challenge, to send to one device. It can be used once within 60 seconds.
func (v *Verifier) Challenge() string { return v.challenges.issue() }

// Verify admits a new participant. Its error is a [RefusedError], that of the context, or one about attempt.URL.
func (v *Verifier) Verify(ctx context.Context, attempt Attempt) (*Admission, error) {
	admission, err := v.verifyPossession(ctx, attempt)
	if err != nil {
		return nil, err
	}
	if v.options.Admitted != nil && !v.options.Admitted(admission.Tenant) {
		return nil, refuse(NotAdmitted)
	}
	if v.options.BudgetReached != nil && v.options.BudgetReached(admission.Tenant, admission.Budgets) {
		return nil, refuse(NotAdmitted)
	}
	return admission, nil
}

// Renew extends the stay of a participant: same user, room and device, with a new token and a new challenge. Its errors
// are those of [Verifier.Verify].
//
// Running sessions continue without credit, so credit is not checked.
func (v *Verifier) Renew(ctx context.Context, previous Participant, attempt Attempt) (*Admission, error) {
	admission, err := v.verifyPossession(ctx, attempt)
	if err != nil {
		return nil, err
	}
	if admission.Participant() != previous {
		return nil, refuse(RenewalOtherParticipant)
	}
	return admission, nil
}

// verifyPossession makes checks 1 to 11, for both newcomers and renewals.
func (v *Verifier) verifyPossession(ctx context.Context, attempt Attempt) (*Admission, error) {
	claims, err := verifyToken(ctx, attempt.Token, v.expected)
	if err != nil {
		return nil, err
	}
	if err := v.checkServed(claims); err != nil {
		return nil, err
	}
	muted := []string{}
	if v.options.Revocations != nil {
		subject, now := claims.Subject(attempt.Address), v.options.Clock.Wall()
		muted, err = CheckRevocations(v.options.Revocations(claims.Tenant), subject, now)
		if err != nil {
			return nil, err
		}
	}
	if err := v.checkConnection(attempt, claims); err != nil {
		return nil, err
	}
	return &Admission{TokenClaims: *claims, Muted: muted}, nil
}

func (v *Verifier) checkServed(claims *TokenClaims) error {
	serves := v.options
	if serves.ServesTenant != nil && !serves.ServesTenant(claims.Tenant) {
		return refuse(TenantNotServed)
	}
	if serves.ServesRoom != nil && !serves.ServesRoom(claims.Room) {
		return refuse(RoomNotServed)
	}
	if serves.CurrentRoomUID != nil {
		current := serves.CurrentRoomUID(claims.Tenant, claims.Room)
		if current != "" && current != claims.RoomUID {
			return refuse(RoomNotCurrent)
		}
	}
	return nil
}

func (v *Verifier) checkConnection(attempt Attempt, claims *TokenClaims) error {
	proven, err := verifyProof(attempt, claims.DeviceThumbprint)
	if err != nil {
		return err
	}
	if !v.challenges.use(attempt.Challenge) {
		return refuse(ChallengeUnusable)
	}
	if proven != strings.ToLower(attempt.DTLSFingerprint) {
		return refuse(DTLSOtherCertificate)
	}
	return nil
}

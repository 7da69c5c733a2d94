package examples

import (
	"context"
	"net/netip"

	"boxoffice.example/boxoffice/sdk/go/relay"
	"boxoffice.example/boxoffice/sdk/go/relay/usage"
)

// Connection is a device's connection to your relay.
type Connection interface {
	// Ask sends a challenge. The device answers with its token and a proof.
	Ask(ctx context.Context, challenge string) (token, proof string, err error)
	// DTLSFingerprint is SHA-256 of the device's certificate, from the DTLS connection.
	DTLSFingerprint() string
	Address() netip.Addr
}

// NewVerifier accepts the tokens of a service, such as https://boxoffice.example.
func NewVerifier(service string, feed *relay.Feed, reporter *usage.Reporter) (*relay.Verifier, error) {
	return relay.NewVerifier(relay.VerifierOptions{
		Issuer:      service,
		Audience:    "relay:boxoffice.example",
		JWKSURL:     service + "/.well-known/jwks.json",
		Revocations: feed.Get,
		Admitted:    func(string) bool { return reporter.Admitted() != usage.NotAdmitted },
	})
}

// Admit decides about a new connection. errors.Is(err, relay.TokenExpired) tells why it was refused.
func Admit(ctx context.Context, verifier *relay.Verifier, device Connection) (*relay.Admission, error) {
	attempt, err := ask(ctx, verifier, device)
	if err != nil {
		return nil, err
	}
	return verifier.Verify(ctx, attempt)
}

// Renew extends a session before admission.ExpiresAt, with a new token.
func Renew(ctx context.Context, verifier *relay.Verifier, device Connection, admission *relay.Admission) (*relay.Admission, error) {
	attempt, err := ask(ctx, verifier, device)
	if err != nil {
		return nil, err
	}
	return verifier.Renew(ctx, admission.Participant(), attempt)
}

func ask(ctx context.Context, verifier *relay.Verifier, device Connection) (relay.Attempt, error) {
	challenge := verifier.Challenge()
	token, proof, err := device.Ask(ctx, challenge)
	return relay.Attempt{
		Token:           token,
		Proof:           proof,
		Challenge:       challenge,
		URL:             "https://relay.example/connect",
		Method:          "CONNECT",
		DTLSFingerprint: device.DTLSFingerprint(),
		Address:         device.Address(),
	}, err
}

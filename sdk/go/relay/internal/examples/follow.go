package examples

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"boxoffice.example/boxoffice/sdk/go/relay"
)

// Session is a participant's session at your relay.
type Session struct {
	Device    Connection
	Admission *relay.Admission
	Mute      func(media []string)
	End       func(code relay.RefusalCode, reason relay.RevocationReason)
}

// FollowRevocations learns of kicks, bans, mutes and rooms that ended. sessions returns those of a tenant.
func FollowRevocations(
	ctx context.Context, service string, tenants []string, sessions func(tenant string) []Session,
) (*relay.Feed, error) {
	return relay.Follow(ctx, relay.FeedOptions{
		URL:      service,
		Tenants:  tenants,
		Issuer:   service,
		Audience: "relay:boxoffice.example",
		JWKSURL:  service + "/.well-known/jwks.json",
		Logger:   slog.Default(),
		OnChange: func(tenant string, snapshot *relay.Revocations) {
			for _, session := range sessions(tenant) {
				recheck(session, snapshot)
			}
		},
	})
}

// recheck is for sessions that run. For newcomers and renewals, the verifier does it.
func recheck(session Session, snapshot *relay.Revocations) {
	subject := session.Admission.Subject(session.Device.Address())
	muted, err := relay.CheckRevocations(snapshot, subject, time.Now())
	var refused *relay.RefusedError
	if errors.As(err, &refused) {
		session.End(refused.Code, refused.Reason)
		return
	}
	session.Mute(muted)
}

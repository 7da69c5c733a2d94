package examples

import (
	"context"
	"errors"
	"log/slog"

	"boxoffice.example/boxoffice/sdk/go/relay/usage"
)

// OpenReporter reports to a service. spool is a folder on a local disk, such as /var/lib/relay/usage.
func OpenReporter(service, keyFile, spool string) (*usage.Reporter, error) {
	return usage.Open(usage.Options{
		URL:     service,
		Key:     usage.KeyFile(keyFile),
		Spool:   spool,
		RelayID: "frankfurt-1",
		Logger:  slog.Default(),
	})
}

// Report counts what a participant was sent, until the session ends.
func Report(ctx context.Context, reporter *usage.Reporter) error {
	session, err := reporter.StartSession(usage.SessionStart{
		Room:        "lobby",
		Participant: "ann",
		Role:        usage.Host,
		Tier:        usage.Audio,
	})
	if err != nil {
		return err
	}
	return errors.Join(
		session.Add(480_000, 90_000),
		session.Change(usage.Host, usage.TierOf(1280*720)),
		session.Add(3_000_000, 90_000),
		session.End(ctx),
	)
}

// Stop sends what is left, for 5 seconds at most. The rest is sent at the next start.
func Stop(ctx context.Context, reporter *usage.Reporter) {
	if left := reporter.Close(ctx); left > 0 {
		slog.Warn("usage is left on disk", "records", left)
	}
}

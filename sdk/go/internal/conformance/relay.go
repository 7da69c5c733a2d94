package main

import (
	"context"
	"encoding/json"
	"time"

	"boxoffice.example/boxoffice/sdk/go/relay"
	"boxoffice.example/boxoffice/sdk/go/relay/usage"
)

// lookWait is how often the feed is looked at.
const lookWait = 20 * time.Millisecond

// report opens a reporter of usage, stores records at once, and closes it.
func report(ctx context.Context, text json.RawMessage) (any, error) {
	var request struct {
		URL     string  `json:"url"`
		Key     string  `json:"key"`
		Spool   string  `json:"spool"`
		CloseMS float64 `json:"close_ms"`
		Records []struct {
			Tenant       string     `json:"tenant"`
			Room         string     `json:"room"`
			Participant  string     `json:"participant"`
			Role         usage.Role `json:"role"`
			Tier         usage.Tier `json:"tier"`
			Seconds      int64      `json:"seconds"`
			EgressBytes  int64      `json:"egress_bytes"`
			IngressBytes int64      `json:"ingress_bytes"`
		} `json:"records"`
	}
	if err := json.Unmarshal(text, &request); err != nil {
		return nil, err
	}
	reporter, err := usage.Open(usage.Options{
		URL:       request.URL,
		Key:       usage.Key(request.Key),
		Spool:     request.Spool,
		RelayID:   "conformance",
		BatchWait: time.Millisecond,
	})
	if err != nil {
		return nil, err
	}
	defer reporter.Close(ctx)
	ids := []string{}
	for _, each := range request.Records {
		record := usage.Record{
			Tenant:       each.Tenant,
			Room:         each.Room,
			Participant:  each.Participant,
			Role:         each.Role,
			Tier:         each.Tier,
			Seconds:      each.Seconds,
			EgressBytes:  each.EgressBytes,
			IngressBytes: each.IngressBytes,
		}
		stored, err := reporter.Record(ctx, record)
		if err != nil {
			return nil, err
		}
		ids = append(ids, stored...)
	}
	closing, cancel := context.WithTimeout(ctx, milliseconds(&request.CloseMS))
	defer cancel()
	left := reporter.Close(closing)
	return map[string]any{"ids": ids, "left": left, "admitted": reporter.Admitted()}, nil
}

// known is what a feed knows of a tenant.
type known struct {
	Epochs   int    `json:"epochs"`
	Bans     int    `json:"bans"`
	Mutes    int    `json:"mutes"`
	Closed   int    `json:"closed"`
	Admitted string `json:"admitted"`
}

// follow tells what the feed knows whenever it has changed, until the context ends.
func follow(ctx context.Context, text json.RawMessage, tell func(any)) error {
	var request struct {
		URL      string `json:"url"`
		JWKSURL  string `json:"jwks_url"`
		Tenant   string `json:"tenant"`
		Issuer   string `json:"issuer"`
		Audience string `json:"audience"`
		RelayKey string `json:"relay_key"`
	}
	if err := json.Unmarshal(text, &request); err != nil {
		return err
	}
	feed, err := relay.Follow(ctx, relay.FeedOptions{
		URL:      request.URL,
		Tenants:  []string{request.Tenant},
		Issuer:   request.Issuer,
		Audience: request.Audience,
		JWKSURL:  request.JWKSURL,
		RelayKey: func(context.Context, string) (string, error) { return request.RelayKey, nil },
	})
	if err != nil {
		return err
	}
	defer feed.Close()
	var before known
	for ctx.Err() == nil {
		now := knownBy(feed, request.Tenant)
		if now != before {
			tell(now)
		}
		before = now
		select {
		case <-ctx.Done():
		case <-time.After(lookWait):
		}
	}
	return ctx.Err()
}

func knownBy(feed *relay.Feed, tenant string) known {
	now := known{Admitted: "unknown"}
	if found := feed.Get(tenant); found != nil {
		now.Epochs, now.Bans = len(found.Epochs), len(found.Bans)
		now.Mutes, now.Closed = len(found.Mutes), len(found.ClosedRooms)
	}
	if admitted, isKnown := feed.Admitted(tenant); isKnown {
		now.Admitted = map[bool]string{true: "true", false: "false"}[admitted]
	}
	return now
}

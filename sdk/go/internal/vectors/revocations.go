package vectors

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"time"

	"boxoffice.example/boxoffice/sdk/go/internal/hashes"
	"boxoffice.example/boxoffice/sdk/go/relay"
)

// revocationFile is revocations.json.
type revocationFile struct {
	Now      int64           `json:"now"`
	Issuer   string          `json:"issuer"`
	Audience string          `json:"audience"`
	JWKS     json.RawMessage `json:"jwks"`
	JWS      string          `json:"jws"`
	Hashes   []struct {
		Of []string `json:"of"`
	} `json:"hashes"`
	Claims struct {
		TID string `json:"tid"`
	} `json:"claims"`
	Checks []revocationCheck `json:"checks"`
}

type revocationCheck struct {
	Name    string `json:"name"`
	Now     int64  `json:"now"`
	Subject struct {
		Tenant  string `json:"tenant"`
		RoomUID string `json:"room_uid"`
		User    string `json:"user"`
		Epoch   int64  `json:"epoch"`
		Device  string `json:"device"`
		Address string `json:"address"`
		Salt    string `json:"salt"`
		Key     string `json:"key"`
	} `json:"subject"`
}

// RevocationResults is what this SDK makes of revocations.json.
type RevocationResults struct {
	// Hashes of the texts of each entry of hashes, in order.
	Hashes []string `json:"hashes"`
	// JWS has the code of the failure to accept the snapshot of jws; empty if it was accepted.
	JWS struct {
		Code string `json:"code,omitempty"`
	} `json:"jws"`
	// Claims are the members of the accepted snapshot, as claims of the file has them.
	Claims map[string]any `json:"claims"`
	// Checks has what is concluded for each entry of checks, by its name.
	Checks map[string]CheckResult `json:"checks"`
}

// CheckResult is the code of a refusal and its reason, or null and what is muted.
type CheckResult struct {
	Code   *string  `json:"code"`
	Reason string   `json:"reason,omitempty"`
	Muted  []string `json:"muted,omitempty"`
}

// Revocations returns a [RevocationResults].
func Revocations(path string) (any, error) {
	var file revocationFile
	if err := readFile(path, &file); err != nil {
		return nil, err
	}
	results := RevocationResults{Checks: map[string]CheckResult{}}
	for _, hash := range file.Hashes {
		results.Hashes = append(results.Hashes, hashes.Of(hash.Of...))
	}
	snapshot, failure, err := file.follow()
	if err != nil {
		return nil, err
	}
	if failure != nil {
		results.JWS.Code = string(failure.Code)
		return results, nil
	}
	results.Claims = claimsOf(snapshot)
	for _, check := range file.Checks {
		result, err := file.conclude(snapshot, check)
		if err != nil {
			return nil, err
		}
		results.Checks[check.Name] = result
	}
	return results, nil
}

// follow lets a feed poll a service that answers with the snapshot of the file.
func (f *revocationFile) follow() (*relay.Revocations, *relay.FeedError, error) {
	service := httptest.NewServer(http.HandlerFunc(func(answer http.ResponseWriter, _ *http.Request) {
		_, _ = answer.Write([]byte(f.JWS))
	}))
	defer service.Close()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	changes, failures := make(chan *relay.Revocations, 1), make(chan *relay.FeedError, 1)
	feed, err := relay.Follow(ctx, relay.FeedOptions{
		URL:      service.URL,
		Tenants:  []string{f.Claims.TID},
		Issuer:   f.Issuer,
		Audience: f.Audience,
		JWKS:     f.JWKS,
		OnChange: func(_ string, snapshot *relay.Revocations) { changes <- snapshot },
		OnError:  func(failure *relay.FeedError) { failures <- failure; <-ctx.Done() },
		Clock:    stoppedClock{time.Unix(f.Now, 0)},
	})
	if err != nil {
		return nil, nil, err
	}
	defer feed.Close()
	defer cancel()
	select {
	case snapshot := <-changes:
		return snapshot, nil, nil
	case failure := <-failures:
		return nil, failure, nil
	case <-ctx.Done():
		return nil, nil, ctx.Err()
	}
}

func (f *revocationFile) conclude(snapshot *relay.Revocations, check revocationCheck) (CheckResult, error) {
	now := f.Now
	if check.Now != 0 {
		now = check.Now
	}
	address, err := netip.ParseAddr(check.Subject.Address)
	if err != nil {
		return CheckResult{}, err
	}
	subject := relay.Subject{
		Tenant:           check.Subject.Tenant,
		Username:         check.Subject.User,
		RoomUID:          check.Subject.RoomUID,
		Epoch:            check.Subject.Epoch,
		DeviceThumbprint: check.Subject.Device,
		RangeSalt:        check.Subject.Salt,
		MintedBy:         check.Subject.Key,
		Address:          address,
	}
	muted, err := relay.CheckRevocations(snapshot, subject, time.Unix(now, 0))
	var refused *relay.RefusedError
	if errors.As(err, &refused) {
		code := string(refused.Code)
		return CheckResult{Code: &code, Reason: string(refused.Reason)}, nil
	}
	return CheckResult{Muted: muted}, err
}

// claimsOf returns what a relay has read, in the members of the file.
func claimsOf(snapshot *relay.Revocations) map[string]any {
	var epochs, bans, mutes, reasons []any
	for _, each := range snapshot.Epochs {
		epochs = append(epochs, []any{each.User, each.Epoch})
	}
	for _, each := range snapshot.Bans {
		var until any
		if !each.Until.IsZero() {
			until = each.Until.Unix()
		}
		bans = append(bans, []any{each.Room, each.Kind, each.Value, until})
	}
	for _, each := range snapshot.Mutes {
		mutes = append(mutes, append([]string{each.User}, each.Media...))
	}
	for _, each := range snapshot.Reasons {
		reasons = append(reasons, []any{each.UserOrRoom, each.Reason})
	}
	return map[string]any{
		"seq":         snapshot.Seq,
		"exp":         snapshot.ExpiresAt.Unix(),
		"epochs":      epochs,
		"bans":        bans,
		"mutes":       mutes,
		"closed":      snapshot.ClosedRooms,
		"credentials": snapshot.Credentials,
		"reasons":     reasons,
	}
}

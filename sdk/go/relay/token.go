package relay

import (
	"context"
	"regexp"
	"slices"
	"time"

	"boxoffice.example/boxoffice/sdk/go/internal/plainjson"
	"boxoffice.example/boxoffice/sdk/go/relay/usage"
)

const (
	lifetimeSecondsMax = 900
	// skewMsMax is how far the service's clock may be ahead of ours. Expiry has no such leeway.
	skewMsMax = 60_000
)

var thumbprint = regexp.MustCompile(`^[A-Za-z0-9_-]{43}$`)

// Role is what a user is in a room. Copy it into usage records.
type Role = usage.Role

// TokenClaims are the user of a token and its grant.
type TokenClaims struct {
	// Tenant is t_ and 16 hex digits.
	Tenant string
	// Username is normalised by the service.
	Username string
	// Room is the name of the room.
	Room string
	// RoomUID distinguishes successive rooms of the same name.
	RoomUID string
	// Role is what the user is in the room.
	Role Role
	// Capabilities are rights. Those that are not listed are denied.
	Capabilities []string
	// Rank is 0 to 100. A participant may act only on lower ranks.
	Rank int64
	// Epoch is the revocation epoch of this user in this room when the token was minted.
	Epoch int64
	// DeviceThumbprint is the RFC 7638 thumbprint of the device's public key.
	DeviceThumbprint string
	// IssuedAt is when it was minted.
	IssuedAt time.Time
	// ExpiresAt is when the session ends unless it is renewed before.
	ExpiresAt time.Time
	// TokenID is jti, for logs.
	TokenID string
	// MintedBy is the id of the API key or device credential that the token was minted with: for logs, and
	// [CheckRevocations].
	MintedBy string
	// Budgets are the hard budgets that pay for the session: for [Feed.BudgetReached].
	Budgets []string
	// RangeSalt is a secret of the tenant, for [CheckRevocations]: banned ranges of addresses are hashed with it.
	RangeSalt string
	// E2EERequired tells whether the room takes only media with end-to-end encryption.
	E2EERequired bool
	// MuteOnEntry tells whether a participant who begins to publish is muted until the participant turns the microphone on.
	MuteOnEntry bool
}

type expectedToken struct {
	issuer, audience string
	keys             signingKeys
	clock            Clock
}

// verifyToken verifies a token alone, without the device that presents it: checks 1 to 5 of docs/tokens.md.
func verifyToken(ctx context.Context, text string, expected expectedToken) (*TokenClaims, error) {
	token, err := readJWS(text, tokenJWS, "participant+jwt", "typ", "alg", "kid")
	if err != nil {
		return nil, err
	}
	key, err := expected.keys.get(ctx, token.Header["kid"])
	if err != nil {
		return nil, err
	}
	claims, err := claimsBy(token, key, tokenJWS)
	if err != nil {
		return nil, err
	}
	if claims["iss"] != expected.issuer {
		return nil, refuse(TokenWrongIssuer)
	}
	if claims["aud"] != expected.audience {
		return nil, refuse(TokenWrongAudience)
	}
	return readClaims(claims, expected.clock.Wall())
}

func readClaims(claims map[string]any, now time.Time) (*TokenClaims, error) {
	reader := claimReader{claims: claims}
	iat, nbf, exp := reader.whole("iat"), reader.whole("nbf"), reader.whole("exp")
	if reader.isBroken {
		return nil, refuse(TokenClaimsInvalid)
	}
	if err := checkTimes(iat, nbf, exp, now.UnixMilli()); err != nil {
		return nil, err
	}
	deviceThumbprint, ok := readThumbprint(claims["cnf"])
	if !ok {
		return nil, refuse(TokenNotBound)
	}
	policy := reader.policy()
	read := &TokenClaims{
		Tenant:           reader.text("tid"),
		Username:         reader.text("sub"),
		Room:             reader.text("room"),
		RoomUID:          reader.text("rid"),
		Role:             reader.role("role"),
		Capabilities:     reader.texts("cap"),
		Rank:             reader.whole("rank"),
		Epoch:            reader.whole("ep"),
		DeviceThumbprint: deviceThumbprint,
		IssuedAt:         time.Unix(iat, 0).UTC(),
		ExpiresAt:        time.Unix(exp, 0).UTC(),
		TokenID:          reader.text("jti"),
		MintedBy:         reader.text("key"),
		Budgets:          reader.optionalTexts("bud"),
		RangeSalt:        reader.text("salt"),
		E2EERequired:     policy.flag("e2ee_required"),
		MuteOnEntry:      policy.flag("mute_on_entry"),
	}
	if reader.isBroken || policy.isBroken {
		return nil, refuse(TokenClaimsInvalid)
	}
	return read, nil
}

// checkTimes compares seconds with now, in milliseconds.
func checkTimes(iat, nbf, exp, nowMs int64) error {
	if nowMs >= exp*1000 {
		return refuse(TokenExpired)
	}
	if max(iat, nbf)*1000 > nowMs+skewMsMax {
		return refuse(TokenNotYetValid)
	}
	if exp <= iat || exp-iat > lifetimeSecondsMax {
		return refuse(TokenLivesTooLong)
	}
	return nil
}

// readThumbprint reads cnf. It must contain jkt only: any other confirmation method could be weaker.
func readThumbprint(cnf any) (jkt string, ok bool) {
	object, _ := cnf.(map[string]any)
	jkt, _ = object["jkt"].(string)
	return jkt, plainjson.HasExactly(object, "jkt") && thumbprint.MatchString(jkt)
}

// claimReader reads claims, and remembers whether one was absent or of a wrong type.
type claimReader struct {
	claims   map[string]any
	isBroken bool
}

func (r *claimReader) text(name string) string { return r.textOf(r.claims[name]) }

func (r *claimReader) textOf(value any) string {
	text, _ := value.(string)
	r.isBroken = r.isBroken || text == ""
	return text
}

func (r *claimReader) texts(name string) []string {
	list, ok := r.claims[name].([]any)
	r.isBroken = r.isBroken || !ok
	texts := make([]string, 0, len(list))
	for _, each := range list {
		texts = append(texts, r.textOf(each))
	}
	return texts
}

func (r *claimReader) optionalTexts(name string) []string {
	if r.claims[name] == nil {
		return nil
	}
	return r.texts(name)
}

func (r *claimReader) whole(name string) int64 {
	whole, ok := plainjson.Whole(r.claims[name])
	r.isBroken = r.isBroken || !ok
	return whole
}

// policy reads the rules of the room. They are absent if none is set, and others than those that are asked for are ignored.
func (r *claimReader) policy() *claimReader {
	value, isThere := r.claims["policy"]
	object, ok := value.(map[string]any)
	return &claimReader{claims: object, isBroken: isThere && !ok}
}

func (r *claimReader) flag(name string) bool {
	value, isThere := r.claims[name]
	flag, ok := value.(bool)
	r.isBroken = r.isBroken || isThere && !ok
	return flag
}

func (r *claimReader) role(name string) Role {
	role := Role(r.text(name))
	r.isBroken = r.isBroken || !slices.Contains(usage.Roles(), role)
	return role
}

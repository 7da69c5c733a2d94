package relay

import (
	"encoding/hex"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"

	"boxoffice.example/boxoffice/sdk/go/internal/hashes"
)

// Revocations is a snapshot of what was revoked: kicks, bans, mutes, closed rooms and revoked device
// credentials of one tenant.
//
// A token lives for 15 minutes at most, so a snapshot is short: older revocations have no token left that they could
// apply to. Users, rooms and address ranges are hashed; docs/revocations.md describes the format. Snapshots are shared: do
// not change one.
type Revocations struct {
	// Seq increases with every change.
	Seq int64
	// ExpiresAt is when the snapshot gets too old to admit participants.
	ExpiresAt time.Time
	// Epochs has the users that were kicked: their tokens of an earlier epoch are void.
	Epochs []UserEpoch
	// Bans has who is banned.
	Bans []Ban
	// Mutes has who may not publish what.
	Mutes []Mute
	// ClosedRooms has the hashes of rooms that were closed.
	ClosedRooms []string
	// Credentials has the hashes of device credentials that were revoked: every token that was minted with one is void.
	Credentials []string
	// Reasons has the reason of a user of Epochs, or of a room of ClosedRooms.
	Reasons []ReasonOf
}

// UserEpoch is a user in a room, and the epoch of the oldest tokens that are valid.
type UserEpoch struct {
	// User is a hash.
	User string
	// Epoch is compared with [TokenClaims.Epoch].
	Epoch int64
}

// BanKind says what is banned.
type BanKind string

// What is banned. A range is one of addresses.
const (
	BannedUser   BanKind = "user"
	BannedDevice BanKind = "device"
	BannedRange  BanKind = "range"
)

// Ban keeps a user, a device or a range of addresses out.
type Ban struct {
	// Room is the hash of a room, or * for the whole tenant.
	Room string
	// Kind says what is banned.
	Kind BanKind
	// Value is a hash; of a range, the length of its prefix, / and a hash.
	Value string
	// Until is when the ban ends; zero: never.
	Until time.Time
}

// Mute is a user in a room, and what the user may not publish.
type Mute struct {
	// User is a hash.
	User string
	// Media is some of audio, video, screen, data.
	Media []string
}

// ReasonOf is the reason of a revocation.
type ReasonOf struct {
	// UserOrRoom is a hash.
	UserOrRoom string
	// Reason may be one of a later version.
	Reason RevocationReason
}

// Subject is what revocations are about: see [TokenClaims.Subject].
type Subject struct {
	// As in [TokenClaims].
	Tenant, Username, RoomUID, DeviceThumbprint, RangeSalt, MintedBy string
	// Epoch of the token.
	Epoch int64
	// Address of the participant, if it is known. It is needed only if addresses are banned.
	Address netip.Addr
}

// Subject returns the user of a token at an address, which may be the zero value.
func (c *TokenClaims) Subject(address netip.Addr) Subject {
	return Subject{
		Tenant:           c.Tenant,
		Username:         c.Username,
		RoomUID:          c.RoomUID,
		DeviceThumbprint: c.DeviceThumbprint,
		RangeSalt:        c.RangeSalt,
		MintedBy:         c.MintedBy,
		Epoch:            c.Epoch,
		Address:          address,
	}
}

// CheckRevocations returns what a participant may not publish. Its error is a [RefusedError] if the revocations apply to
// the participant, or if the snapshot is nil or too old.
//
// Use it for running sessions with every new snapshot. [Verifier] uses it for new tokens.
func CheckRevocations(revocations *Revocations, subject Subject, now time.Time) (muted []string, err error) {
	if revocations == nil || !now.Before(revocations.ExpiresAt) {
		return nil, refuse(RevocationsStale)
	}
	room := hashes.Of("room", subject.RoomUID)
	if slices.Contains(revocations.ClosedRooms, room) {
		return nil, &RefusedError{Code: RoomClosed, Reason: revocations.reasonOf(room)}
	}
	user := hashes.Of("epoch", subject.RoomUID, subject.Username)
	for _, kick := range revocations.Epochs {
		if kick.User == user && subject.Epoch < kick.Epoch {
			return nil, &RefusedError{Code: TokenRevoked, Reason: revocations.reasonOf(user)}
		}
	}
	if slices.Contains(revocations.Credentials, hashes.Of("credential", subject.Tenant, subject.MintedBy)) {
		return nil, &RefusedError{Code: TokenRevoked, Reason: ReasonCredentialRevoked}
	}
	if err := checkBans(revocations.Bans, subject, room, now); err != nil {
		return nil, err
	}
	return revocations.mutedFor(subject), nil
}

func (r *Revocations) reasonOf(userOrRoom string) RevocationReason {
	for _, each := range r.Reasons {
		if each.UserOrRoom != userOrRoom {
			continue
		}
		switch each.Reason {
		case ReasonKicked, ReasonBanned, ReasonClosed, ReasonEnded, ReasonWatchdog, ReasonCredentialRevoked:
			return each.Reason
		}
		return ""
	}
	return ""
}

func (r *Revocations) mutedFor(subject Subject) []string {
	user := hashes.Of("mute", subject.RoomUID, subject.Username)
	muted := []string{}
	for _, mute := range r.Mutes {
		if mute.User == user {
			muted = append(muted, mute.Media...)
		}
	}
	return muted
}

func checkBans(bans []Ban, subject Subject, room string, now time.Time) error {
	if len(bans) == 0 {
		return nil
	}
	scopes := map[string]*banScope{
		"*":  newBanScope(subject, subject.Tenant, subject.RangeSalt),
		room: newBanScope(subject, subject.RoomUID, subject.RoomUID),
	}
	for _, ban := range bans {
		scope := scopes[ban.Room]
		if scope == nil || (!ban.Until.IsZero() && !now.Before(ban.Until)) {
			continue
		}
		isMeant, err := scope.means(ban)
		if err != nil {
			return err
		}
		if isMeant {
			return &RefusedError{Code: Banned, Reason: ReasonBanned}
		}
	}
	return nil
}

// banScope has the hashes by which a ban in the whole tenant, or in one room, would name a participant.
type banScope struct {
	user, device string
	// secret is the uid of a room, or the salt of the tenant: ranges are hashed with it.
	secret  string
	address netip.Addr
	// networks has the hash of each length of a prefix, made once however many ranges have it. It is empty if the address
	// has fewer bits.
	networks map[string]string
}

func newBanScope(subject Subject, tenantOrRoom, secret string) *banScope {
	return &banScope{
		user:     hashes.Of("user", tenantOrRoom, subject.Username),
		device:   hashes.Of("device", tenantOrRoom, subject.DeviceThumbprint),
		secret:   secret,
		address:  subject.Address.WithZone("").Unmap(),
		networks: map[string]string{},
	}
}

func (s *banScope) means(ban Ban) (bool, error) {
	switch ban.Kind {
	case BannedUser:
		return ban.Value == s.user, nil
	case BannedDevice:
		return ban.Value == s.device, nil
	case BannedRange:
		return s.isInside(ban.Value)
	}
	return false, nil
}

func (s *banScope) isInside(value string) (bool, error) {
	if !s.address.IsValid() {
		return false, refuse(AddressUnknown)
	}
	bits, hash, _ := strings.Cut(value, "/")
	own, isKnown := s.networks[bits]
	if !isKnown {
		own = s.networkHash(bits)
		s.networks[bits] = own
	}
	return own != "" && own == hash, nil
}

func (s *banScope) networkHash(bits string) string {
	length, err := strconv.Atoi(bits)
	if err != nil {
		return ""
	}
	network, err := s.address.Prefix(length)
	if err != nil {
		return ""
	}
	return hashes.Of("range", s.secret, hex.EncodeToString(network.Addr().AsSlice())+"/"+bits)
}

package relay

import (
	"encoding/json"
	"errors"
	"math/rand/v2"
	"net/netip"
	"reflect"
	"strings"
	"testing"
	"time"
)

var ann = Subject{
	Tenant:           "t_1",
	Username:         "ann",
	RoomUID:          "room_1",
	Epoch:            3,
	DeviceThumbprint: strings.Repeat("d", 43),
	RangeSalt:        rangeSalt,
	MintedBy:         "0f7e440556fe905a",
}

// check returns the code of a refusal and its reason, or what is muted.
func check(t *testing.T, change func(*Revocations), address string) (code RefusalCode, reason RevocationReason, muted []string) {
	t.Helper()
	snapshot := &Revocations{Seq: 7, ExpiresAt: time.Unix(nowSeconds+60, 0)}
	change(snapshot)
	subject := ann
	if address != "" {
		subject.Address = netip.MustParseAddr(address)
	}
	muted, err := CheckRevocations(snapshot, subject, time.Unix(nowSeconds, 0))
	var refused *RefusedError
	if errors.As(err, &refused) {
		return refused.Code, refused.Reason, nil
	}
	return "", "", muted
}

func banOf(ban Ban) func(*Revocations) {
	return func(r *Revocations) { r.Bans = []Ban{ban} }
}

func TestCheckRevocations(t *testing.T) {
	room := hashed("room", "room_1")
	user, device := hashed("user", "t_1", "ann"), hashed("device", "t_1", ann.DeviceThumbprint)
	kick := func(user string, epoch int64) func(*Revocations) {
		return func(r *Revocations) { r.Epochs = []UserEpoch{{user, epoch}} }
	}
	closed := func(rooms ...string) func(*Revocations) { return func(r *Revocations) { r.ClosedRooms = rooms } }
	never := time.Time{}
	for _, each := range []struct {
		name   string
		want   RefusalCode
		change func(*Revocations)
	}{
		{"nothing", "", func(*Revocations) {}},
		{"a snapshot that ends now", RevocationsStale, func(r *Revocations) { r.ExpiresAt = time.Unix(nowSeconds, 0) }},
		{"a closed room", RoomClosed, closed(hashed("room", "room_0"), room)},
		{"a revoked credential", TokenRevoked, func(r *Revocations) {
			r.Credentials = []string{hashed("credential", "t_1", "0f7e440556fe905a")}
		}},
		{"another revoked credential", "", func(r *Revocations) {
			r.Credentials = []string{hashed("credential", "t_1", "0000000000000000")}
		}},
		{"another closed room", "", closed(hashed("room", "room_0"))},
		{"a room in plain", "", closed("room_1")},
		{"a kick", TokenRevoked, kick(hashed("epoch", "room_1", "ann"), 4)},
		{"a kick before the token was minted", "", kick(hashed("epoch", "room_1", "ann"), 3)},
		{"a kick of another user", "", kick(hashed("epoch", "room_1", "bob"), 4)},
		{"a kick from another room", "", kick(hashed("epoch", "room_2", "ann"), 4)},
		{"a mute that is no kick", "", kick(hashed("mute", "room_1", "ann"), 4)},
		{"a ban of the user", Banned, banOf(Ban{room, BannedUser, hashed("user", "room_1", "ann"), never})},
		{"a ban by the tenant", Banned, banOf(Ban{"*", BannedUser, user, never})},
		{"a ban by another tenant", "", banOf(Ban{"*", BannedUser, hashed("user", "t_2", "ann"), never})},
		{"a ban from another room", "", banOf(Ban{hashed("room", "room_2"), BannedUser, hashed("user", "room_2", "ann"), never})},
		{"a name of the tenant, banned in the room", "", banOf(Ban{room, BannedUser, user, never})},
		{"a ban of the device", Banned, banOf(Ban{"*", BannedDevice, device, time.Unix(nowSeconds+1, 0)})},
		{"a ban of the device in the room", Banned, banOf(Ban{room, BannedDevice, hashed("device", "room_1", ann.DeviceThumbprint), never})},
		{"a ban of another device", "", banOf(Ban{"*", BannedDevice, hashed("device", "t_1", strings.Repeat("e", 43)), never})},
		{"a ban that has ended", "", banOf(Ban{"*", BannedUser, user, time.Unix(nowSeconds, 0)})},
		{"a device that is called like the user", "", banOf(Ban{"*", BannedDevice, user, never})},
	} {
		t.Run(each.name, func(t *testing.T) {
			code, _, _ := check(t, each.change, "")
			wantCode(t, code, each.want)
		})
	}
	if _, err := CheckRevocations(nil, ann, time.Unix(nowSeconds, 0)); !errors.Is(err, RevocationsStale) {
		t.Errorf("no snapshot: %v", err)
	}
}

func TestMutes(t *testing.T) {
	_, _, muted := check(t, func(r *Revocations) {
		r.Mutes = []Mute{
			{hashed("mute", "room_1", "ann"), []string{"audio", "screen"}},
			{hashed("mute", "room_1", "bob"), []string{"video"}},
			{hashed("mute", "room_2", "ann"), []string{"data"}},
		}
	}, "")
	if !reflect.DeepEqual(muted, []string{"audio", "screen"}) {
		t.Errorf("got %v", muted)
	}
}

func TestReasons(t *testing.T) {
	user, room := hashed("epoch", "room_1", "ann"), hashed("room", "room_1")
	kicked := func(reasons ...ReasonOf) func(*Revocations) {
		return func(r *Revocations) { r.Epochs, r.Reasons = []UserEpoch{{user, 4}}, reasons }
	}
	closed := func(reasons ...ReasonOf) func(*Revocations) {
		return func(r *Revocations) { r.ClosedRooms, r.Reasons = []string{room}, reasons }
	}
	for _, each := range []struct {
		change func(*Revocations)
		code   RefusalCode
		reason RevocationReason
	}{
		{kicked(ReasonOf{hashed("epoch", "room_1", "bob"), ReasonClosed}, ReasonOf{user, ReasonKicked}), TokenRevoked, ReasonKicked},
		{kicked(ReasonOf{user, ReasonBanned}), TokenRevoked, ReasonBanned},
		{kicked(ReasonOf{user, ReasonWatchdog}), TokenRevoked, ReasonWatchdog},
		{closed(ReasonOf{room, ReasonClosed}), RoomClosed, ReasonClosed},
		{closed(ReasonOf{room, ReasonEnded}), RoomClosed, ReasonEnded},
		{banOf(Ban{"*", BannedUser, hashed("user", "t_1", "ann"), time.Time{}}), Banned, ReasonBanned},
		{kicked(), TokenRevoked, ""},
		{closed(ReasonOf{room, "eclipse"}), RoomClosed, ""},
	} {
		code, reason, _ := check(t, each.change, "")
		if code != each.code || reason != each.reason {
			t.Errorf("got %s %s, want %s %s", code, reason, each.code, each.reason)
		}
	}
}

func TestBannedAddresses(t *testing.T) {
	for _, each := range []struct {
		address, cidr string
		want          RefusalCode
	}{
		{"192.0.2.7", "192.0.2.0/24", Banned},
		{"192.0.3.7", "192.0.2.0/24", ""},
		{"::ffff:192.0.2.7", "192.0.2.0/24", Banned},
		{"192.0.2.7", "192.0.2.7/32", Banned},
		{"192.0.2.8", "192.0.2.7/32", ""},
		{"2001:db8::1", "2001:db8::/32", Banned},
		{"2001:db9::1", "2001:db8::/32", ""},
		{"2001:db8::1", "2001:db8::1/128", Banned},
		{"192.0.2.7", "2001:db8::/32", ""},
		{"2001:db8::1", "192.0.2.0/24", ""},
		{"", "192.0.2.0/24", AddressUnknown},
		{"fe80::1%eth0", "192.0.2.0/24", ""},
		{"fe80::1%eth0", "fe80::/64", Banned},
		{"::FFFF:C000:0207", "192.0.2.0/24", Banned},
		{"64:ff9b::192.0.2.7", "64:ff9b::/96", Banned},
		{"::192.0.2.7", "192.0.2.0/24", ""},
		{"::", "::1/128", ""},
		{"2001:db8:0:0:0:0:0:1", "2001:db8::/112", Banned},
		{"1:2:3:4:5:6:7::", "1:2:3:4:5:6:7:0/128", Banned},
	} {
		code, _, _ := check(t, banOf(Ban{"*", BannedRange, hashedRange(rangeSalt, each.cidr), time.Time{}}), each.address)
		if code != each.want {
			t.Errorf("%s in %s: %q", each.address, each.cidr, code)
		}
	}
}

func TestBannedAddressesOfRooms(t *testing.T) {
	room := hashed("room", "room_1")
	for _, each := range []struct {
		room, secret string
		want         RefusalCode
	}{
		{room, "room_1", Banned},
		{room, "room_2", ""},
		{room, rangeSalt, ""},
		{hashed("room", "room_2"), "room_2", ""},
		{"*", "room_1", ""},
	} {
		ban := Ban{each.room, BannedRange, hashedRange(each.secret, "192.0.2.0/24"), time.Time{}}
		code, _, _ := check(t, banOf(ban), "192.0.2.7")
		wantCode(t, code, each.want)
	}
	ended := Ban{"*", BannedRange, hashedRange(rangeSalt, "192.0.2.0/24"), time.Unix(nowSeconds, 0)}
	code, _, _ := check(t, banOf(ended), "")
	wantCode(t, code, "")
	elsewhere := Ban{hashed("room", "room_2"), BannedRange, hashedRange("room_2", "192.0.2.0/24"), time.Time{}}
	code, _, _ = check(t, banOf(elsewhere), "")
	wantCode(t, code, "")
}

func TestBannedAddressesShareTheFirstBits(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	for range 2_000 {
		var one [4]byte
		for index := range one {
			one[index] = byte(random.UintN(256))
		}
		bits := 1 + random.IntN(32)
		other := one
		other[random.IntN(4)] ^= 1 << random.UintN(8)
		network := netip.PrefixFrom(netip.AddrFrom4(one), bits)
		want := RefusalCode("")
		if network.Contains(netip.AddrFrom4(other)) {
			want = Banned
		}
		ban := Ban{"*", BannedRange, hashedRange(rangeSalt, network.String()), time.Time{}}
		code, _, _ := check(t, banOf(ban), netip.AddrFrom4(other).String())
		wantCode(t, code, want)
	}
}

func TestSnapshotsOfUnknownShapeAreErrors(t *testing.T) {
	base := object{"seq": 7, "exp": nowSeconds, "epochs": []any{}, "bans": []any{}, "mutes": []any{}, "closed": []any{}}
	var read Revocations
	if err := json.Unmarshal(mustJSON(base), &read); err != nil {
		t.Error(err)
	}
	for name, value := range map[string][]any{
		"seq":     {absent, "8", -1, 0.5},
		"exp":     {absent, nil},
		"epochs":  {absent, []any{[]any{"a", "b", 4}}, []any{[]any{"", 4}}, []any{[]any{"a", -1}}, object{}},
		"bans":    {absent, []any{[]any{"*", "country", "AQ", nil}}, []any{[]any{"*", "range", "192.0.2.0/24", nil}}, []any{[]any{"*", "user", "x"}}, []any{[]any{"*", "user", "x", -1}}},
		"mutes":   {absent, []any{[]any{"x"}}, []any{[]any{"x", ""}}},
		"closed":  {absent, []any{1}, []any{""}},
		"reasons": {nil, []any{[]any{"x"}}, []any{[]any{"x", "y", "z"}}},
	} {
		for _, each := range value {
			if err := json.Unmarshal(mustJSON(with(base, object{name: each})), &read); err == nil {
				t.Errorf("%s: %v is accepted", name, each)
			}
		}
	}
}

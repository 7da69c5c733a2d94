package relay

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"time"

	"boxoffice.example/boxoffice/sdk/go/internal/jws"
	"boxoffice.example/boxoffice/sdk/go/internal/plainjson"
)

var rangeValue = regexp.MustCompile(`^[1-9][0-9]{0,2}/[A-Za-z0-9_-]{22}$`)

type expectedSnapshot struct {
	issuer, audience, tenant string
	keys                     signingKeys
	clock                    Clock
}

// verifySnapshot reads the service's snapshot, a compact JWS. Its error says what is wrong, and quotes nothing of the
// text.
func verifySnapshot(ctx context.Context, text string, expected expectedSnapshot) (*Revocations, error) {
	signed, ok := jws.Split(text)
	if !ok {
		return nil, errors.New("the snapshot is not a compact JWS")
	}
	header := signed.Header
	if header["typ"] != "revocations+jwt" || header["alg"] != "ES256" || !plainjson.HasExactly(header, "typ", "alg", "kid") {
		return nil, notValid("header")
	}
	key, err := expected.keys.get(ctx, header["kid"])
	if err != nil {
		return nil, err
	}
	if !signed.IsSignedBy(key) {
		return nil, notValid("signature")
	}
	claims, ok := plainjson.Object(signed.Payload)
	if !ok {
		return nil, notValid("claims")
	}
	for name, value := range map[string]string{"iss": expected.issuer, "aud": expected.audience, "tid": expected.tenant} {
		if claims[name] != value {
			return nil, notValid(name)
		}
	}
	read, err := readRevocations(claims)
	if err != nil {
		return nil, err
	}
	if !read.ExpiresAt.After(expected.clock.Wall()) {
		return nil, notValid("exp")
	}
	return read, nil
}

// UnmarshalJSON reads the members of a snapshot, as the service writes them.
func (r *Revocations) UnmarshalJSON(text []byte) error {
	claims, ok := plainjson.Object(text)
	if !ok {
		return notValid("claims")
	}
	read, err := readRevocations(claims)
	if err == nil {
		*r = *read
	}
	return err
}

// readRevocations reads the members of a snapshot. Entries of an unknown shape are an error: a revocation that is
// ignored would not be enforced. Other members only explain, and are ignored.
func readRevocations(claims map[string]any) (*Revocations, error) {
	reader := &snapshotReader{claims: claims}
	read := &Revocations{
		Seq:         reader.whole("seq"),
		ExpiresAt:   time.Unix(reader.whole("exp"), 0).UTC(),
		Epochs:      listOf(reader, "epochs", readEpoch),
		Bans:        listOf(reader, "bans", readBan),
		Mutes:       listOf(reader, "mutes", readMute),
		ClosedRooms: listOf(reader, "closed", readText),
	}
	// Earlier versions of the service give neither credentials nor reasons.
	if _, ok := claims["credentials"]; ok {
		read.Credentials = listOf(reader, "credentials", readText)
	}
	if _, ok := claims["reasons"]; ok {
		read.Reasons = listOf(reader, "reasons", readReason)
	}
	return read, reader.err
}

// snapshotReader reads members, and remembers the first that is not valid.
type snapshotReader struct {
	claims map[string]any
	err    error
}

func (r *snapshotReader) fail(what string) {
	if r.err == nil {
		r.err = notValid(what)
	}
}

func (r *snapshotReader) whole(name string) int64 {
	whole, ok := plainjson.Whole(r.claims[name])
	if !ok {
		r.fail(name)
	}
	return whole
}

func listOf[T any](reader *snapshotReader, name string, readOne func(any) (T, bool)) []T {
	list, ok := reader.claims[name].([]any)
	if !ok {
		reader.fail(name)
		return nil
	}
	read := make([]T, 0, len(list))
	for _, each := range list {
		one, ok := readOne(each)
		if !ok {
			reader.fail(name)
			return nil
		}
		read = append(read, one)
	}
	return read
}

func readText(value any) (string, bool) {
	text, _ := value.(string)
	return text, text != ""
}

func readTexts(value any) (texts []string, ok bool) {
	list, ok := value.([]any)
	for _, each := range list {
		text, isText := readText(each)
		texts, ok = append(texts, text), ok && isText
	}
	return texts, ok
}

func readEpoch(value any) (UserEpoch, bool) {
	pair, _ := value.([]any)
	if len(pair) != 2 {
		return UserEpoch{}, false
	}
	user, isText := readText(pair[0])
	epoch, isWhole := plainjson.Whole(pair[1])
	return UserEpoch{User: user, Epoch: epoch}, isText && isWhole
}

func readBan(value any) (Ban, bool) {
	entry, _ := value.([]any)
	if len(entry) != 4 {
		return Ban{}, false
	}
	texts, ok := readTexts(entry[:3])
	if !ok {
		return Ban{}, false
	}
	ban := Ban{Room: texts[0], Kind: BanKind(texts[1]), Value: texts[2]}
	if entry[3] != nil {
		until, isWhole := plainjson.Whole(entry[3])
		ban.Until, ok = time.Unix(until, 0).UTC(), isWhole
	}
	switch ban.Kind {
	case BannedUser, BannedDevice:
		return ban, ok
	case BannedRange:
		return ban, ok && rangeValue.MatchString(ban.Value)
	}
	return Ban{}, false
}

func readMute(value any) (Mute, bool) {
	texts, ok := readTexts(value)
	if !ok || len(texts) < 2 {
		return Mute{}, false
	}
	return Mute{User: texts[0], Media: texts[1:]}, true
}

func readReason(value any) (ReasonOf, bool) {
	texts, ok := readTexts(value)
	if !ok || len(texts) != 2 {
		return ReasonOf{}, false
	}
	return ReasonOf{UserOrRoom: texts[0], Reason: RevocationReason(texts[1])}, true
}

func notValid(what string) error { return fmt.Errorf("the snapshot is not valid: %s", what) }

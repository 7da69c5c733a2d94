package usage

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/bits"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"boxoffice.example/boxoffice/sdk/go/internal/plainjson"
)

// Role is the role of a participant in a room. It decides the ceiling of the price.
type Role string

// The roles.
const (
	Host              Role = "host"
	Audience          Role = "audience"
	BroadcastAudience Role = "broadcast_audience"
)

// Roles returns all roles.
func Roles() []Role { return []Role{Host, Audience, BroadcastAudience} }

// Tier is the video resolution that a participant receives. It decides the ceiling of the price: see [TierOf].
type Tier string

// The tiers.
const (
	Audio      Tier = "audio"
	HD         Tier = "hd"
	FullHD     Tier = "full_hd"
	TwoK       Tier = "2k"
	TwoKOrMore Tier = "2k_plus"
)

// Tiers returns all tiers.
func Tiers() []Tier { return []Tier{Audio, HD, FullHD, TwoK, TwoKOrMore} }

// TierOf returns the tier for a number of pixels: the sum of all video streams that the participant receives at once.
func TierOf(pixels int) Tier {
	switch {
	case pixels <= 0:
		return Audio
	case pixels <= 1280*720:
		return HD
	case pixels <= 1920*1080:
		return FullHD
	case pixels <= 2560*1440:
		return TwoK
	}
	return TwoKOrMore
}

// Record is the traffic of one participant in one interval. Source: specification 2.6.
type Record struct {
	// SessionID identifies the participant's stay, 1 to 64 of A-Z a-z 0-9 _ -. It becomes part of the id. Default 0.
	SessionID string
	// Tenant may be empty. The service refuses the record unless the key belongs to this tenant.
	Tenant string
	// Room is its name, which the ledger shows: at most 200 characters. It may be empty.
	Room string
	// Participant is a name, which the ledger shows: at most 200 characters. It may be empty.
	Participant string
	// Role decides the ceiling of the price.
	Role Role
	// Tier decides the ceiling of the price.
	Tier Tier
	// Seconds is the time connected in this interval. More than a day becomes several records; at most 100 days.
	Seconds int64
	// EgressBytes were sent to the participant.
	EgressBytes int64
	// IngressBytes were received from the participant.
	IngressBytes int64
}

const (
	secondsMax = 86_400
	// partsMax: a longer interval is a mistake, and would flood the spool with its parts.
	partsMax = 100
	// textMax counts characters of Room and of Participant.
	textMax      = 200
	lineBytesMax = 65_536
)

var idPart = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)

// check returns [InvalidUsage] for what the service would refuse. A relay can still fix its call, while a refused record
// can only be quarantined.
func (r *Record) check() error {
	if r.SessionID != "" && !idPart.MatchString(r.SessionID) {
		return invalidUsage("SessionID must be 1 to 64 of A-Z a-z 0-9 _ -")
	}
	for name, text := range map[string]string{"Tenant": r.Tenant, "Room": r.Room, "Participant": r.Participant} {
		if !utf8.ValidString(text) || strings.ContainsRune(text, 0) {
			return invalidUsage("%s must be well-formed text without NUL", name)
		}
		if name != "Tenant" && utf8.RuneCountInString(text) > textMax {
			return invalidUsage("%s must have at most %d characters", name, textMax)
		}
	}
	if err := checkGrant(r.Role, r.Tier); err != nil {
		return err
	}
	if r.Seconds < 0 || r.Seconds > secondsMax*partsMax {
		return invalidUsage("Seconds must be from 0 to %d", secondsMax*partsMax)
	}
	if err := checkCount("EgressBytes", r.EgressBytes); err != nil {
		return err
	}
	return checkCount("IngressBytes", r.IngressBytes)
}

func checkGrant(role Role, tier Tier) error {
	if !slices.Contains(Roles(), role) {
		return invalidUsage("Role must be one of %v", Roles())
	}
	if !slices.Contains(Tiers(), tier) {
		return invalidUsage("Tier must be one of %v", Tiers())
	}
	return nil
}

func checkCount(name string, value int64) error {
	if value < 0 || value > plainjson.WholeMax {
		return invalidUsage("%s must be from 0 to 2^53 - 1", name)
	}
	return nil
}

func invalidUsage(format string, values ...any) error {
	return &Error{Code: InvalidUsage, message: fmt.Sprintf(format, values...)}
}

// splitByDay splits usage into parts of at most a day, with bytes shared out by time. The sums stay the same.
func (r *Record) splitByDay() []Record {
	if r.Seconds <= secondsMax {
		return []Record{*r}
	}
	var parts []Record
	for start := int64(0); start < r.Seconds; start += secondsMax {
		end := min(r.Seconds, start+secondsMax)
		part := *r
		part.Seconds = end - start
		part.EgressBytes = r.upTo(r.EgressBytes, end) - r.upTo(r.EgressBytes, start)
		part.IngressBytes = r.upTo(r.IngressBytes, end) - r.upTo(r.IngressBytes, start)
		parts = append(parts, part)
	}
	return parts
}

// upTo returns the share of bytes in the first end seconds, at most all, rounded down.
func (r *Record) upTo(bytes, end int64) int64 {
	high, low := bits.Mul64(uint64(bytes), uint64(end))
	share, _ := bits.Div64(high, low, uint64(r.Seconds))
	return int64(share)
}

// wireRecord is a record as the service reads it, in the order of the other SDKs.
type wireRecord struct {
	ID           string `json:"id"`
	Tenant       string `json:"tenant,omitempty"`
	Room         string `json:"room,omitempty"`
	Participant  string `json:"participant,omitempty"`
	Role         Role   `json:"role"`
	Tier         Tier   `json:"tier"`
	Seconds      int64  `json:"seconds"`
	EgressBytes  int64  `json:"egress_bytes"`
	IngressBytes int64  `json:"ingress_bytes"`
}

// render returns the record in wire format: one line of JSON. Its error is [InvalidUsage] if that is far too long.
func (r *Record) render(id string) (string, error) {
	line, err := renderJSON(wireRecord{
		ID:           id,
		Tenant:       r.Tenant,
		Room:         r.Room,
		Participant:  r.Participant,
		Role:         r.Role,
		Tier:         r.Tier,
		Seconds:      r.Seconds,
		EgressBytes:  r.EgressBytes,
		IngressBytes: r.IngressBytes,
	})
	if err == nil && len(line) > lineBytesMax {
		err = invalidUsage("a record must be at most %d bytes of JSON", lineBytesMax)
	}
	return line, err
}

// renderJSON returns JSON in one line, without the escapes for HTML.
func renderJSON(value any) (string, error) {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	err := encoder.Encode(value)
	return strings.TrimSuffix(text.String(), "\n"), err
}

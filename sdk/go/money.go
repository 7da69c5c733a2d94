package boxoffice

import "fmt"

// Micros is an amount of money in millionths of a US dollar.
type Micros int64

// String is the amount in dollars with six decimals, such as -$0.000009.
func (m Micros) String() string {
	sign, amount := "", uint64(m)
	if m < 0 {
		sign, amount = "-", -amount
	}
	return fmt.Sprintf("%s$%d.%06d", sign, amount/1_000_000, amount%1_000_000)
}

// Amount is an amount of money.
type Amount struct {
	// Millionths of a US dollar.
	Micros Micros `json:"micros"`
	// The same for people, such as -$0.000009.
	Display string `json:"display"`
}

// Role is what a participant is in a room.
type Role string

// Roles.
const (
	RoleHost              Role = "host"
	RoleAudience          Role = "audience"
	RoleBroadcastAudience Role = "broadcast_audience"
)

// Tier is the sum of all video that a participant receives at once.
type Tier string

// Tiers.
const (
	TierAudio  Tier = "audio"
	TierHD     Tier = "hd"
	TierFullHD Tier = "full_hd"
	Tier2K     Tier = "2k"
	Tier2KPlus Tier = "2k_plus"
)

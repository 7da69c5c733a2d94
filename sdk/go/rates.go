package boxoffice

import "context"

// Rates are the prices.
type Rates struct {
	rest *rest
}

// RateCard is the prices in effect.
type RateCard struct {
	// In lower case: usd.
	Currency string `json:"currency"`
	// How a charge comes about, in words.
	Model string `json:"model"`
	// What a GiB of a hosted relay's egress costs the platform.
	EgressCostPerGiB Amount `json:"egress_cost_per_gib"`
	// Markup on that cost; 1500 is 15 %.
	MarkupBasisPoints int64 `json:"markup_basis_points"`
	// Fee for a GiB of egress, whoever hosts the relay.
	PlatformFeePerGiB Amount `json:"platform_fee_per_gib"`
	// The most that 1000 minutes of one participant cost, by role and tier.
	CeilingPer1000ParticipantMinutes map[Role]map[Tier]Amount `json:"ceiling_per_1000_participant_minutes"`
}

// Get reads the rate card in effect. It needs no API key.
func (r *Rates) Get(ctx context.Context, options ...CallOption) (*RateCard, error) {
	answer := new(RateCard)
	op := operation{name: "Rates.Get", method: "GET", path: "/v1/rates", mayRepeat: true, isOpen: true}
	return orNil(answer, r.rest.call(ctx, op, answer, options))
}

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

// ExactAmount is an exact amount of money.
type ExactAmount struct {
	// In micros, rounded to 13 decimals: 558.7935447692871.
	Decimal string `json:"decimal"`
	// Exact: Numerator / Denominator micros. An integer of any length.
	Numerator string `json:"numerator"`
	// The same for all exact amounts.
	Denominator string `json:"denominator"`
}

// Rounding is what becomes of fractions of a micro.
type Rounding string

// Roundings.
const (
	// RoundingCarry adds fractions to the next charge.
	RoundingCarry Rounding = "carry"
	// RoundingPerRecord rounds each record.
	RoundingPerRecord Rounding = "per_record"
)

// SimulateRoom is the request of [Rates.Simulate]: who is in the room.
type SimulateRoom struct {
	// Each stands for Count participants who are alike.
	Participants []SimulatedParticipants `json:"participants"`
}

// SimulatedParticipants are participants who are alike.
type SimulatedParticipants struct {
	// What they are in the room: it decides the ceiling.
	Role Role `json:"role"`
	// The sum of all video that each receives at once: it decides the ceiling.
	Tier Tier `json:"tier"`
	// How many participants are like this, at least 1.
	Count int64 `json:"count"`
	// How long each of them is connected, 0 to 86400.
	Seconds int64 `json:"seconds"`
	// Bytes sent to each of them.
	EgressBytes int64 `json:"egress_bytes"`
	// The interval that the relay reports, 1 to 86400. 0: one record for the whole time.
	IntervalSeconds int64 `json:"interval_seconds,omitzero"`
}

// Simulation is what a room would cost.
type Simulation struct {
	// The version of the rate card in effect.
	RateVersion int64 `json:"rate_version"`
	// The version of the pricing rule.
	RuleVersion int64 `json:"rule_version"`
	// What becomes of fractions of a micro.
	Rounding Rounding `json:"rounding"`
	// One for each of the request, in order.
	Lines []SimulatedLine `json:"lines"`
	// Of all lines.
	Participants int64 `json:"participants"`
	// Of all lines.
	Records int64 `json:"records"`
	// The exact price of all lines.
	Price ExactAmount `json:"price"`
	// What the room costs: the sum of the amounts of all lines.
	Total Amount `json:"total"`
	// The fraction that the tenant's charges have left over.
	CarryBefore ExactAmount `json:"carry_before"`
	// The fraction that this charge would leave over.
	CarryAfter ExactAmount `json:"carry_after"`
	// Usage of this tenant is priced and not charged.
	Exempt bool `json:"exempt"`
	// Prepaid credit now.
	Balance Amount `json:"balance"`
	// Prepaid credit after this charge, without any top-up.
	BalanceAfter Amount `json:"balance_after"`
	// The credit is enough.
	Covered bool `json:"covered"`
}

// SimulatedLine is what participants who are alike would cost.
type SimulatedLine struct {
	// As given in Count.
	Participants int64 `json:"participants"`
	// Usage records that a relay would report for them.
	Records int64 `json:"records"`
	// The platform fee on their egress.
	Fee ExactAmount `json:"fee"`
	// The ceiling for their time.
	Ceiling ExactAmount `json:"ceiling"`
	// The ceiling is lower than the fee and makes the price.
	Capped bool `json:"capped"`
	// The lower of the two.
	Price ExactAmount `json:"price"`
	// The price in whole micros, after the lines before it.
	Amount Amount `json:"amount"`
}

// Simulate prices a room that you make up, as if a relay reported it now. Nothing is charged.
func (r *Rates) Simulate(ctx context.Context, request SimulateRoom, options ...CallOption) (*Simulation, error) {
	if request.Participants == nil {
		request.Participants = []SimulatedParticipants{}
	}
	answer := new(Simulation)
	op := operation{name: "Rates.Simulate", method: "POST", path: "/v1/rates/simulate", body: request, mayRepeat: true}
	return orNil(answer, r.rest.call(ctx, op, answer, options))
}

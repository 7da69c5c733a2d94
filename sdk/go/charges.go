package boxoffice

import (
	"context"
	"iter"
	"math/big"
	"time"
)

// ListUsageRecords is the request of [Usage.Records]: which records to list.
type ListUsageRecords struct {
	// Only this room; empty: only records without one; nil: all.
	Room *string `json:"room,omitzero"`
	// Only this participant; empty: any.
	Participant string `json:"participant,omitzero"`
	// Only this role; empty: any.
	Role Role `json:"role,omitzero"`
	// Only this tier; empty: any.
	Tier Tier `json:"tier,omitzero"`
	// Only what was charged at this time or later.
	From time.Time `json:"from,omitzero"`
	// Only what was charged before this time.
	To time.Time `json:"to,omitzero"`
	// 1 to 1000; 0 is 100.
	PageSize int32 `json:"page_size,omitzero"`
	// NextPageToken of the previous page; empty: the first page.
	PageToken string `json:"page_token,omitzero"`
}

// ChargedRecord is a usage record, and what it cost.
type ChargedRecord struct {
	// As reported.
	ID string `json:"id"`
	// As reported. Empty: there was none.
	Room string `json:"room,omitzero"`
	// As reported. Empty: there was none.
	Participant string `json:"participant,omitzero"`
	// As reported.
	Role Role `json:"role"`
	// As reported.
	Tier Tier `json:"tier"`
	// As reported.
	Seconds int64 `json:"seconds"`
	// As reported.
	EgressBytes int64 `json:"egress_bytes"`
	// As reported.
	IngressBytes int64 `json:"ingress_bytes"`
	// What it cost; for an unbilled record, what it would have cost.
	Total Amount `json:"total"`
	// The ceiling limited the charge.
	Capped bool `json:"capped"`
	// The tenant was exempt, so it was not charged.
	Unbilled bool `json:"unbilled"`
	// When it was charged.
	At time.Time `json:"at,omitzero"`
}

// ListUsageConflicts is the request of [Usage.Conflicts]: which page.
type ListUsageConflicts struct {
	// 1 to 1000; 0 is 100.
	PageSize int32 `json:"page_size,omitzero"`
	// NextPageToken of the previous page; empty: the first page.
	PageToken string `json:"page_token,omitzero"`
}

// UsageConflict is an id that was reported again with other values.
type UsageConflict struct {
	// The id of the record.
	ID string `json:"id"`
	// How often it was reported with other values.
	Times int64 `json:"times"`
	// When this happened first.
	FirstAt time.Time `json:"first_at,omitzero"`
	// When this happened last.
	LastAt time.Time `json:"last_at,omitzero"`
	// The first report, which was charged.
	Charged ReportedUsage `json:"charged"`
	// The latest of the others, which were not charged.
	Reported ReportedUsage `json:"reported"`
}

// ReportedUsage is what a relay reported for an id.
type ReportedUsage struct {
	// As reported. Empty: there was none.
	Room string `json:"room,omitzero"`
	// As reported. Empty: there was none.
	Participant string `json:"participant,omitzero"`
	// As reported.
	Role Role `json:"role"`
	// As reported.
	Tier Tier `json:"tier"`
	// As reported.
	Seconds int64 `json:"seconds"`
	// As reported.
	EgressBytes int64 `json:"egress_bytes"`
	// As reported.
	IngressBytes int64 `json:"ingress_bytes"`
}

// UsageGrouping is by what usage is summed up.
type UsageGrouping string

// Groupings of usage.
const (
	ByHour UsageGrouping = "hour"
	ByDay  UsageGrouping = "day"
	ByRoom UsageGrouping = "room"
	ByRole UsageGrouping = "role"
	ByTier UsageGrouping = "tier"
)

// SummarizeUsage is the request of [Usage.Summary]: which usage to sum up.
type SummarizeUsage struct {
	// A row for each combination of these. By hour or by day, not both; none: one row.
	GroupBy []UsageGrouping `json:"group_by,omitzero"`
	// Start of the period, a whole hour. Zero: 30 days before To.
	From time.Time `json:"from,omitzero"`
	// End of the period, a whole hour. Zero: the end of this hour.
	To time.Time `json:"to,omitzero"`
	// Only this room; empty: only records without one; nil: all.
	Room *string `json:"room,omitzero"`
	// How many rows at once: 1 to 1000; 0 is 100.
	Limit int32 `json:"limit,omitzero"`
	// NextCursor of the previous page. Give From and To of that page too, so that the period is the same.
	Cursor string `json:"cursor,omitzero"`
}

// UsageSummary is a page of sums, and the sum of all pages.
type UsageSummary struct {
	// Start of the period.
	From time.Time `json:"from,omitzero"`
	// End of the period.
	To time.Time `json:"to,omitzero"`
	// The groups.
	Rows []UsageRow `json:"rows"`
	// Of all groups, on every page.
	Sum UsageSums `json:"sum"`
	// The cursor of the next page; empty for the last page.
	NextCursor string `json:"next_cursor,omitzero"`
}

// UsageRow is one group of usage.
type UsageRow struct {
	// Start of the hour. Zero unless grouped by hour.
	Hour time.Time `json:"hour,omitzero"`
	// Start of the day, UTC. Zero unless grouped by day.
	Day time.Time `json:"day,omitzero"`
	// Empty for records without one, and unless grouped by room.
	Room string `json:"room,omitzero"`
	// Empty unless grouped by role.
	Role Role `json:"role,omitzero"`
	// Empty unless grouped by tier.
	Tier Tier `json:"tier,omitzero"`
	UsageSums
}

// UsageSums are sums of usage.
type UsageSums struct {
	// Records, charged and unbilled.
	Records int64 `json:"records"`
	// Seconds that participants were connected.
	Seconds int64 `json:"seconds"`
	// Bytes sent to participants. An int64 may be too small for them.
	EgressBytes *big.Int `json:"egress_bytes"`
	// Bytes received from participants. An int64 may be too small for them.
	IngressBytes *big.Int `json:"ingress_bytes"`
	// What was charged.
	Total Amount `json:"total"`
	// What would have been charged, while the tenant was exempt.
	Unbilled Amount `json:"unbilled"`
}

// ExplainUsage is the request of [Usage.Explain]: a charge.
type ExplainUsage struct {
	// The id of the record.
	ID string `json:"id"`
}

// ExplainedUsage is a charge, and how it came about.
type ExplainedUsage struct {
	// The record.
	Record ChargedRecord `json:"record"`
	// The calculation, step by step.
	Explanation ChargeExplanation `json:"explanation"`
	// The change of the balance that this record is part of.
	Posting UsagePosting `json:"posting"`
}

// ChargeExplanation is the calculation of a charge, step by step. Decimals are exact or rounded as they say.
type ChargeExplanation struct {
	// EgressBytes in GiB, rounded to 12 decimals.
	EgressGiB string `json:"egress_gib"`
	// Of the rate card.
	PlatformFeePerGiB Amount `json:"platform_fee_per_gib"`
	// EgressGiB times the platform fee, in micros.
	Fee string `json:"fee"`
	// Seconds in minutes, rounded to 12 decimals.
	Minutes string `json:"minutes"`
	// Of the rate card, for the role and the tier.
	CeilingPer1000Minutes Amount `json:"ceiling_per_1000_minutes"`
	// A thousandth of it for every minute, in micros.
	Ceiling string `json:"ceiling"`
	// The smaller of the two, which is the price.
	LimitedBy ChargeLimit `json:"limited_by"`
	// The price, in micros.
	Price string `json:"price"`
	// The fraction that earlier charges left over, in micros.
	CarryBefore string `json:"carry_before"`
	// The fraction that is left for the next charge, in micros.
	CarryAfter string `json:"carry_after"`
	// What becomes of fractions of a micro.
	Rounding Rounding `json:"rounding"`
	// Version of the rate card.
	RateCard int64 `json:"rate_card"`
	// Version of the pricing rule.
	Rule int64 `json:"rule"`
}

// ChargeLimit is what makes the price of a record.
type ChargeLimit string

// Limits of charges.
const (
	LimitedByFee     ChargeLimit = "fee"
	LimitedByCeiling ChargeLimit = "ceiling"
)

// UsagePosting is a change of the balance by records that were charged together.
type UsagePosting struct {
	// Its number in the ledger.
	Seq int64 `json:"seq"`
	// How many records were charged together.
	Records int64 `json:"records"`
	// By how much they changed the balance.
	Amount Amount `json:"amount"`
	// When.
	At time.Time `json:"at,omitzero"`
}

// LookUpUsage is the request of [Usage.LookUp]: ids of records.
type LookUpUsage struct {
	// At most 5000.
	IDs []string `json:"ids"`
}

// LookedUpRecord is what became of an id.
type LookedUpRecord struct {
	// As asked.
	ID string `json:"id"`
	// What became of it.
	Outcome LookupOutcome `json:"outcome"`
	// What it cost, or would have cost if it is unbilled. Nil: it is unknown.
	Total *Amount `json:"total,omitzero"`
	// When it was charged. Zero: it is unknown.
	At time.Time `json:"at,omitzero"`
}

// LookupOutcome is what became of an id.
type LookupOutcome string

// Outcomes of lookups.
const (
	// LookupCharged was charged.
	LookupCharged LookupOutcome = "charged"
	// LookupUnbilled was accepted while the tenant was exempt.
	LookupUnbilled LookupOutcome = "unbilled"
	// LookupUnknown was never accepted, so report it.
	LookupUnknown LookupOutcome = "unknown"
)

// Records yields usage records as they were charged, newest first.
func (u *Usage) Records(ctx context.Context, request ListUsageRecords, options ...CallOption) iter.Seq2[*ChargedRecord, error] {
	return itemsOf(u.RecordPages(ctx, request, options...))
}

// RecordPages yields the pages of Records. With a filter, a page may be empty although others follow.
func (u *Usage) RecordPages(ctx context.Context, request ListUsageRecords, options ...CallOption) iter.Seq2[*Page[ChargedRecord], error] {
	var asked filter
	asked.optional("room", request.Room)
	asked.text("participant", request.Participant)
	asked.text("role", string(request.Role))
	asked.text("tier", string(request.Tier))
	asked.at("from", request.From)
	asked.at("to", request.To)
	asked.number("limit", request.PageSize)
	op := operation{name: "Usage.Records", path: "/v1/usage/records"}
	return pagesOfREST[ChargedRecord](ctx, u.rest, op, "records", asked, request.PageToken, options)
}

// Conflicts yields ids that were reported again with other values, newest report first. The other values are
// not charged.
func (u *Usage) Conflicts(ctx context.Context, request ListUsageConflicts, options ...CallOption) iter.Seq2[*UsageConflict, error] {
	return itemsOf(u.ConflictPages(ctx, request, options...))
}

// ConflictPages yields the pages of Conflicts.
func (u *Usage) ConflictPages(ctx context.Context, request ListUsageConflicts, options ...CallOption) iter.Seq2[*Page[UsageConflict], error] {
	var asked filter
	asked.number("limit", request.PageSize)
	op := operation{name: "Usage.Conflicts", path: "/v1/usage/conflicts"}
	return pagesOfREST[UsageConflict](ctx, u.rest, op, "conflicts", asked, request.PageToken, options)
}

// Summary sums up usage over a period of at most 366 days. By hour or day, rows are in the order of time;
// otherwise the most expensive come first. While there is a NextCursor, there are more rows.
func (u *Usage) Summary(ctx context.Context, request SummarizeUsage, options ...CallOption) (*UsageSummary, error) {
	var asked filter
	words(&asked, "group_by", request.GroupBy)
	asked.at("from", request.From)
	asked.at("to", request.To)
	asked.optional("room", request.Room)
	asked.number("limit", request.Limit)
	asked.text("cursor", request.Cursor)
	if err := asked.err(); err != nil {
		return nil, err
	}
	answer := new(UsageSummary)
	op := operation{name: "Usage.Summary", method: "GET", path: "/v1/usage/summary", query: asked.values, mayRepeat: true}
	return orNil(answer, u.rest.call(ctx, op, answer, options))
}

// Explain shows how the charge of a record came about. It fails with [ErrNotFound] if it was not charged.
func (u *Usage) Explain(ctx context.Context, request ExplainUsage, options ...CallOption) (*ExplainedUsage, error) {
	id, err := segment("id", request.ID)
	if err != nil {
		return nil, err
	}
	answer := new(ExplainedUsage)
	op := operation{name: "Usage.Explain", method: "GET", path: "/v1/usage/" + id + "/explain", mayRepeat: true}
	return orNil(answer, u.rest.call(ctx, op, answer, options))
}

// LookUp tells which ids were charged, in their order. It takes a relay key, and changes nothing.
func (u *Usage) LookUp(ctx context.Context, request LookUpUsage, options ...CallOption) ([]*LookedUpRecord, error) {
	if request.IDs == nil {
		request.IDs = []string{}
	}
	var answer struct {
		Records []*LookedUpRecord `json:"records"`
	}
	op := operation{name: "Usage.LookUp", method: "POST", path: "/v1/usage/lookup", body: request, mayRepeat: true}
	if err := u.rest.call(ctx, op, &answer, options); err != nil {
		return nil, err
	}
	return answer.Records, nil
}

package boxoffice

import "context"

// Usage is reports of usage, for applications that measure it themselves, and what was charged for it. Relays
// use the durable reporter of the package relay. Report and LookUp take a relay key, and the others a backend
// key.
type Usage struct {
	rest *rest
}

// UsageRecord is the usage of one participant in one interval.
type UsageRecord struct {
	// The same for the same participant and interval, on every retry; never used for another. 1 to 200
	// characters.
	ID string `json:"id"`
	// If given, the tenant of the key.
	Tenant string `json:"tenant,omitzero"`
	// The room, which the ledger shows.
	Room string `json:"room,omitzero"`
	// The participant, which the ledger shows.
	Participant string `json:"participant,omitzero"`
	// What the participant is in the room: it decides the ceiling.
	Role Role `json:"role"`
	// The sum of all video received at once: it decides the ceiling.
	Tier Tier `json:"tier"`
	// How long the participant was connected in the interval, 0 to 86400.
	Seconds int64 `json:"seconds"`
	// Bytes sent to the participant: they are charged.
	EgressBytes int64 `json:"egress_bytes"`
	// Bytes received from the participant.
	IngressBytes int64 `json:"ingress_bytes"`
}

// ReportUsage is the request of [Usage.Report]: a batch of records.
type ReportUsage struct {
	// At most 5000. An empty batch asks for Admitted alone.
	Records []UsageRecord `json:"records"`
}

// UsageReport says what was charged.
type UsageReport struct {
	// Records that were charged.
	Charged int64 `json:"charged"`
	// Records whose id was known already: not charged.
	Duplicates int64 `json:"duplicates"`
	// Records accepted and not charged: exempt tenants.
	Unbilled int64 `json:"unbilled"`
	// What the batch cost.
	Total Amount `json:"total"`
	// False: admit no new sessions until it is true again.
	Admitted bool `json:"admitted"`
}

// Report charges usage: all records or none. It takes a relay key. The request is retried, and may be
// repeated: an id is never charged twice.
func (u *Usage) Report(ctx context.Context, request ReportUsage, options ...CallOption) (*UsageReport, error) {
	if request.Records == nil {
		request.Records = []UsageRecord{}
	}
	answer := new(UsageReport)
	op := operation{name: "Usage.Report", method: "POST", path: "/v1/usage", body: request, mayRepeat: true}
	return orNil(answer, u.rest.call(ctx, op, answer, options))
}

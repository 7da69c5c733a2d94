package boxoffice

import (
	"context"
	"iter"
	"time"
)

// Billing is the tenant's credit.
type Billing struct {
	rest *rest
}

// Tenant is a customer of the platform, with its settings for payments.
type Tenant struct {
	// The id of the tenant.
	ID string `json:"id"`
	// As given at signup.
	Name string `json:"name"`
	// As given at signup.
	Email string `json:"email"`
	// Pending until the first payment; only active tenants admit sessions.
	Status TenantStatus `json:"status"`
	// A saved payment method exists.
	HasCard bool `json:"has_card"`
	// The rule of automatic top-ups.
	AutoTopUp AutoTopUp `json:"auto_top_up"`
	// What stops automatic top-ups, or why the last one failed. Empty: neither.
	LastTopUpError string `json:"last_top_up_error,omitzero"`
	// When the tenant signed up.
	CreatedAt time.Time `json:"created_at,omitzero"`
}

// TenantStatus is the status of a tenant.
type TenantStatus string

// Statuses of tenants.
const (
	TenantPending   TenantStatus = "pending"
	TenantActive    TenantStatus = "active"
	TenantSuspended TenantStatus = "suspended"
	TenantArchived  TenantStatus = "archived"
	TenantDeleted   TenantStatus = "deleted"
)

// AutoTopUp is the rule of automatic top-ups.
type AutoTopUp struct {
	// Whether the saved card is charged automatically.
	Enabled bool `json:"enabled"`
	// The balance below which it is charged.
	Below Amount `json:"below"`
	// What it is charged.
	Amount Amount `json:"amount"`
}

// LedgerEntry is one change of the balance.
type LedgerEntry struct {
	// What changed the balance.
	Kind LedgerKind `json:"kind"`
	// By how much the balance changed; charges are negative.
	Amount Amount `json:"amount"`
	// The charge was limited by the ceiling.
	Capped bool `json:"capped"`
	// For usage, the room; for payments, the provider's id.
	Reference string `json:"reference"`
	// For usage, the participant.
	Detail string `json:"detail,omitzero"`
	// When the balance changed.
	At time.Time `json:"at,omitzero"`
	// For usage, the id of the record. Only [Billing.Ledger] has it.
	ID string `json:"id,omitzero"`
	// For a payment, refund or dispute, the id of the payment. Only [Billing.Ledger] has it.
	Payment string `json:"payment,omitzero"`
	// The number of the posting in the ledger. Records that were charged together have one posting. Only
	// [Billing.Ledger] has it.
	PostingSeq int64 `json:"posting_seq,omitzero"`
	// The balance after the posting. Only [Billing.Ledger] has it.
	BalanceAfter *Amount `json:"balance_after,omitzero"`
}

// LedgerKind is what changed a balance.
type LedgerKind string

// Kinds of ledger entries.
const (
	LedgerUsage      LedgerKind = "usage"
	LedgerTopUp      LedgerKind = "top_up"
	LedgerAutoTopUp  LedgerKind = "auto_top_up"
	LedgerRefund     LedgerKind = "refund"
	LedgerDispute    LedgerKind = "dispute"
	LedgerAdjustment LedgerKind = "adjustment"
)

// ListLedger is the request of [Billing.Ledger]: which entries to list.
type ListLedger struct {
	// Only these kinds; none: all.
	Kinds []LedgerKind `json:"kinds,omitzero"`
	// Only usage of this room; empty: only usage without one; nil: all.
	Room *string `json:"room,omitzero"`
	// Only usage of this participant; empty: of any.
	Participant string `json:"participant,omitzero"`
	// Only changes at this time or later.
	From time.Time `json:"from,omitzero"`
	// Only changes before this time.
	To time.Time `json:"to,omitzero"`
	// 1 to 1000; 0 is 100.
	PageSize int32 `json:"page_size,omitzero"`
	// NextPageToken of the previous page; empty: the first page.
	PageToken string `json:"page_token,omitzero"`
}

// Account is the tenant, its balance, and its newest ledger entries.
type Account struct {
	// The customer.
	Tenant Tenant `json:"tenant"`
	// Prepaid credit that is left; may be negative.
	Balance Amount `json:"balance"`
	// New sessions and tokens are admitted.
	Admitted bool `json:"admitted"`
	// The newest entries of the ledger, newest first.
	Recent []LedgerEntry `json:"recent"`
}

// Checkout is the request of [Billing.Checkout]: what to pay.
type Checkout struct {
	// Whole cents, 1000 to 1000000.
	AmountCents int64 `json:"amount_cents"`
}

// CheckoutPage is a page on which credit is paid for.
type CheckoutPage struct {
	// The page, to open in a browser.
	CheckoutURL string `json:"checkout_url"`
}

// PortalPage is the portal for receipts and saved cards.
type PortalPage struct {
	// The portal, to open in a browser.
	PortalURL string `json:"portal_url"`
}

// SetAutoTopUp is the request of [Billing.SetAutoTopUp]: a new rule.
type SetAutoTopUp struct {
	// Whether to charge the saved card automatically.
	Enabled bool `json:"enabled"`
	// The balance below which to charge it, in whole cents. It is required when enabled.
	BelowCents *int64 `json:"below_cents,omitzero"`
	// What to charge, 1000 to 1000000 whole cents. It is required when enabled.
	AmountCents *int64 `json:"amount_cents,omitzero"`
}

// Get reads the tenant, its balance, and its newest ledger entries.
func (b *Billing) Get(ctx context.Context, options ...CallOption) (*Account, error) {
	answer := new(Account)
	op := operation{name: "Billing.Get", method: "GET", path: "/v1/billing", mayRepeat: true}
	return orNil(answer, b.rest.call(ctx, op, answer, options))
}

// Ledger yields all entries of the ledger, newest first: one for each usage record and each other change.
func (b *Billing) Ledger(ctx context.Context, request ListLedger, options ...CallOption) iter.Seq2[*LedgerEntry, error] {
	return itemsOf(b.LedgerPages(ctx, request, options...))
}

// LedgerPages yields the pages of Ledger. With a filter, a page may be empty although others follow.
func (b *Billing) LedgerPages(ctx context.Context, request ListLedger, options ...CallOption) iter.Seq2[*Page[LedgerEntry], error] {
	var asked filter
	words(&asked, "kind", request.Kinds)
	asked.optional("room", request.Room)
	asked.text("participant", request.Participant)
	asked.at("from", request.From)
	asked.at("to", request.To)
	asked.number("limit", request.PageSize)
	op := operation{name: "Billing.Ledger", path: "/v1/ledger"}
	return pagesOfREST[LedgerEntry](ctx, b.rest, op, "entries", asked, request.PageToken, options)
}

// Checkout opens a payment page for credit.
func (b *Billing) Checkout(ctx context.Context, request Checkout, options ...CallOption) (*CheckoutPage, error) {
	answer := new(CheckoutPage)
	op := operation{name: "Billing.Checkout", method: "POST", path: "/v1/billing/checkout", body: request, isWrite: true}
	return orNil(answer, b.rest.call(ctx, op, answer, options))
}

// Portal opens the portal for receipts and saved cards.
func (b *Billing) Portal(ctx context.Context, options ...CallOption) (*PortalPage, error) {
	answer := new(PortalPage)
	op := operation{name: "Billing.Portal", method: "POST", path: "/v1/billing/portal", isWrite: true}
	return orNil(answer, b.rest.call(ctx, op, answer, options))
}

// SetAutoTopUp charges the saved card whenever the balance falls below a threshold, or turns that off.
func (b *Billing) SetAutoTopUp(ctx context.Context, request SetAutoTopUp, options ...CallOption) (*Tenant, error) {
	answer := new(Tenant)
	op := operation{name: "Billing.SetAutoTopUp", method: "PUT", path: "/v1/billing/auto-top-up", body: request, isWrite: true}
	return orNil(answer, b.rest.call(ctx, op, answer, options))
}

package boxoffice

import (
	"context"
	"iter"
)

// Billing is the tenant's credit.
type Billing struct {
	rest *rest
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

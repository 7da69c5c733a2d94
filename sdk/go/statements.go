package boxoffice

import (
	"context"
	"iter"
	"time"
)

// ListedStatement is the balance of a month that has a statement.
type ListedStatement struct {
	// A month of the calendar in UTC, such as 2026-10.
	Month string `json:"month"`
	// The balance at the start of the month.
	Opening Amount `json:"opening"`
	// The balance at its end.
	Closing Amount `json:"closing"`
}

// GetStatement is the request of [Billing.Statement]: which month.
type GetStatement struct {
	// A month of the calendar in UTC, such as 2026-10.
	Month string `json:"month"`
	// Also for a month that is not over: up to now, and unsigned.
	SoFar bool `json:"so_far,omitzero"`
}

// SignedStatement is a statement, and its signature if the month is over.
type SignedStatement struct {
	// The statement.
	Statement Statement `json:"statement"`
	// The statement, signed: a compact JWS of the type statement+jwt, to be verified with the keys of
	// /.well-known/statement-keys.json. Empty: the month is not over.
	JWS string `json:"jws,omitzero"`
}

// Statement is the account of a month.
type Statement struct {
	// Of this form: always 1.
	Version int64 `json:"version"`
	// The public address of the deployment.
	Issuer string `json:"iss"`
	// Whose statement it is.
	Tenant StatementTenant `json:"tenant"`
	// A month of the calendar in UTC.
	Month string `json:"month"`
	// The month is not over.
	SoFar bool `json:"so_far,omitzero"`
	// Start of the month.
	From time.Time `json:"from,omitzero"`
	// End of the month; what happened at that time is not in it.
	To time.Time `json:"to,omitzero"`
	// Always usd.
	Currency string `json:"currency"`
	// The balance at the start of the month.
	Opening Amount `json:"opening"`
	// What was paid in.
	Payments Movements `json:"payments"`
	// Refunds and disputes, and what they gave back.
	Reversals Movements `json:"reversals"`
	// What the operator gave or took back.
	Adjustments Movements `json:"adjustments"`
	// What usage cost. Unbilled usage moved no balance.
	Usage StatementUsage `json:"usage"`
	// The balance at the end: opening, payments, reversals and adjustments, less usage.
	Closing Amount `json:"closing"`
}

// StatementTenant is whose statement it is.
type StatementTenant struct {
	// The id of the tenant.
	ID string `json:"id"`
	// As given at signup.
	Name string `json:"name"`
}

// Movements are changes of the balance of one kind, in the order of time.
type Movements struct {
	// The first ones.
	Entries []Movement `json:"entries"`
	// Those that are not listed. Nil: there are none.
	Others *FurtherMovements `json:"others,omitzero"`
	// Of all of them.
	Sum Amount `json:"sum"`
}

// Movement is one change of the balance.
type Movement struct {
	// When the balance changed.
	At time.Time `json:"at,omitzero"`
	// What changed the balance.
	Kind LedgerKind `json:"kind"`
	// By how much.
	Amount Amount `json:"amount"`
	// The provider's id of the payment, refund or dispute; of an adjustment, its own.
	Reference string `json:"reference,omitzero"`
	// Why an adjustment was made.
	Detail string `json:"detail,omitzero"`
	// The payment that was reversed.
	Payment string `json:"payment,omitzero"`
}

// FurtherMovements are movements that are not listed, added up.
type FurtherMovements struct {
	// How many.
	Count int64 `json:"count"`
	// Of all of them.
	Sum Amount `json:"sum"`
}

// StatementUsage is what usage cost.
type StatementUsage struct {
	// The most expensive first.
	Rooms []RoomUsage `json:"rooms"`
	// Those that are not listed. Nil: there are none.
	Others *FurtherRooms `json:"others,omitzero"`
	// Of all rooms.
	Sum UsageSums `json:"sum"`
}

// RoomUsage is usage of one room.
type RoomUsage struct {
	// As reported; empty for records without one.
	Room string `json:"room"`
	UsageSums
}

// FurtherRooms are rooms that are not listed, added up.
type FurtherRooms struct {
	// How many rooms.
	Rooms int64 `json:"rooms"`
	UsageSums
}

// ListPayments is the request of [Billing.Payments]: from which page on.
type ListPayments struct {
	// NextPageToken of the previous page; empty: the first page.
	PageToken string `json:"page_token,omitzero"`
}

// Payment is a payment that was credited.
type Payment struct {
	// The provider's id, which the ledger entries of the payment name.
	ID string `json:"id"`
	// [LedgerTopUp]: by checkout; [LedgerAutoTopUp]: from the saved card.
	Kind LedgerKind `json:"kind"`
	// The credit that was paid for, without tax.
	Amount Amount `json:"amount"`
	// What was paid on top of it as tax. Nil: nothing.
	Tax *Amount `json:"tax,omitzero"`
	// How much of the credit refunds and disputes have taken back.
	Reversed Amount `json:"reversed"`
	// When it was credited.
	At time.Time `json:"at,omitzero"`
}

// GetReceipt is the request of [Billing.Receipt]: which payment.
type GetReceipt struct {
	// The id of the payment.
	ID string `json:"id"`
}

// Receipt is pages of the payment provider. They expire after at most 30 days.
type Receipt struct {
	// The receipt, to open in a browser.
	URL string `json:"url"`
	// The invoice, to open in a browser. Empty: there is none.
	InvoiceURL string `json:"invoice_url,omitzero"`
}

// Statements reads the months in which the balance changed and that are over, newest first.
func (b *Billing) Statements(ctx context.Context, options ...CallOption) ([]*ListedStatement, error) {
	var answer struct {
		Statements []*ListedStatement `json:"statements"`
	}
	op := operation{name: "Billing.Statements", method: "GET", path: "/v1/statements", mayRepeat: true}
	if err := b.rest.call(ctx, op, &answer, options); err != nil {
		return nil, err
	}
	return answer.Statements, nil
}

// Statement reads the statement of a month, also signed. It fails with [ErrPrecondition] until the month is over,
// unless SoFar is set, and with [ErrNotFound] for one before the signup.
func (b *Billing) Statement(ctx context.Context, request GetStatement, options ...CallOption) (*SignedStatement, error) {
	month, err := segment("month", request.Month)
	if err != nil {
		return nil, err
	}
	var asked filter
	if request.SoFar {
		asked.text("so_far", "true")
	}
	answer := new(SignedStatement)
	op := operation{name: "Billing.Statement", method: "GET", path: "/v1/statements/" + month, query: asked.values, mayRepeat: true}
	return orNil(answer, b.rest.call(ctx, op, answer, options))
}

// Payments yields payments that were credited, newest first: checkouts and automatic top-ups.
func (b *Billing) Payments(ctx context.Context, request ListPayments, options ...CallOption) iter.Seq2[*Payment, error] {
	return itemsOf(b.PaymentPages(ctx, request, options...))
}

// PaymentPages yields the pages of Payments.
func (b *Billing) PaymentPages(ctx context.Context, request ListPayments, options ...CallOption) iter.Seq2[*Page[Payment], error] {
	op := operation{name: "Billing.Payments", path: "/v1/payments"}
	return pagesOfREST[Payment](ctx, b.rest, op, "payments", filter{}, request.PageToken, options)
}

// Receipt links to the provider's receipt of a payment.
func (b *Billing) Receipt(ctx context.Context, request GetReceipt, options ...CallOption) (*Receipt, error) {
	id, err := segment("id", request.ID)
	if err != nil {
		return nil, err
	}
	answer := new(Receipt)
	op := operation{name: "Billing.Receipt", method: "GET", path: "/v1/payments/" + id + "/receipt", mayRepeat: true}
	return orNil(answer, b.rest.call(ctx, op, answer, options))
}

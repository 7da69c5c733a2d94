package boxoffice

import (
	"context"
	"iter"
)

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

// Details reads the tenant's name, address and tax id, as statements show them from now on.
func (b *Billing) Details(ctx context.Context, options ...CallOption) (*BillingDetails, error) {
	answer := new(BillingDetails)
	op := operation{name: "Billing.Details", method: "GET", path: "/v1/billing/details", mayRepeat: true}
	return orNil(answer, b.rest.call(ctx, op, answer, options))
}

// SetDetails replaces name, address and tax id. Statements of months that are over keep those that they had.
func (b *Billing) SetDetails(ctx context.Context, request SetBillingDetails, options ...CallOption) (*BillingDetails, error) {
	answer := new(BillingDetails)
	op := operation{name: "Billing.SetDetails", method: "PUT", path: "/v1/billing/details", body: request, isWrite: true}
	return orNil(answer, b.rest.call(ctx, op, answer, options))
}

// TimeZone reads where the tenant's days and months begin.
func (b *Billing) TimeZone(ctx context.Context, options ...CallOption) (*TimeZone, error) {
	answer := new(TimeZone)
	op := operation{name: "Billing.TimeZone", method: "GET", path: "/v1/billing/time-zone", mayRepeat: true}
	return orNil(answer, b.rest.call(ctx, op, answer, options))
}

// SetTimeZone sets it from the next month on or, before the first usage, from this month on. Months before keep theirs.
func (b *Billing) SetTimeZone(ctx context.Context, request SetTimeZone, options ...CallOption) (*TimeZone, error) {
	answer := new(TimeZone)
	op := operation{name: "Billing.SetTimeZone", method: "PUT", path: "/v1/billing/time-zone", body: request, isWrite: true}
	return orNil(answer, b.rest.call(ctx, op, answer, options))
}

// Payments yields payments that were credited, newest first: checkouts and automatic top-ups.
func (b *Billing) Payments(ctx context.Context, request ListPayments, options ...CallOption) iter.Seq2[*Payment, error] {
	return itemsOf(b.PaymentPages(ctx, request, options...))
}

// PaymentPages yields the pages of Payments.
func (b *Billing) PaymentPages(ctx context.Context, request ListPayments, options ...CallOption) iter.Seq2[*Page[Payment], error] {
	var asked filter
	asked.at("from", request.From)
	asked.at("to", request.To)
	asked.number("limit", request.PageSize)
	op := operation{name: "Billing.Payments", path: "/v1/payments"}
	return pagesOfREST[Payment](ctx, b.rest, op, "payments", asked, request.PageToken, options)
}

// Grants yields credit that the operator granted, newest first, with what is left of each grant.
func (b *Billing) Grants(ctx context.Context, request ListGrants, options ...CallOption) iter.Seq2[*Grant, error] {
	return itemsOf(b.GrantPages(ctx, request, options...))
}

// GrantPages yields the pages of Grants.
func (b *Billing) GrantPages(ctx context.Context, request ListGrants, options ...CallOption) iter.Seq2[*Page[Grant], error] {
	op := operation{name: "Billing.Grants", path: "/v1/grants"}
	return pagesOfREST[Grant](ctx, b.rest, op, "grants", filter{}, request.PageToken, options)
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

package boxoffice

import (
	"context"
	"iter"
)

// Audit is the audit trail: who changed what.
type Audit struct {
	rest *rest
}

// List yields changes, newest first. No entry holds a secret.
func (a *Audit) List(ctx context.Context, request ListAudit, options ...CallOption) iter.Seq2[*AuditEntry, error] {
	return itemsOf(a.Pages(ctx, request, options...))
}

// Pages yields the pages of List.
func (a *Audit) Pages(ctx context.Context, request ListAudit, options ...CallOption) iter.Seq2[*Page[AuditEntry], error] {
	var asked filter
	asked.text("action", request.Action)
	asked.text("subject", request.Subject)
	asked.at("from", request.From)
	asked.at("to", request.To)
	asked.number("limit", request.PageSize)
	op := operation{name: "Audit.List", path: "/v1/audit"}
	return pagesOfREST[AuditEntry](ctx, a.rest, op, "entries", asked, request.PageToken, options)
}

package boxoffice

import (
	"context"
	"encoding/json"
	"iter"
	"time"
)

// Audit is the audit trail: who changed what.
type Audit struct {
	rest *rest
}

// ListAudit is the request of [Audit.List]: which entries to list.
type ListAudit struct {
	// Only this action, such as key_created; empty: all.
	Action string `json:"action,omitzero"`
	// Only changes of what has this id; empty: of everything.
	Subject string `json:"subject,omitzero"`
	// Only changes at this time or later.
	From time.Time `json:"from,omitzero"`
	// Only changes before this time.
	To time.Time `json:"to,omitzero"`
	// 1 to 1000; 0 is 100.
	PageSize int32 `json:"page_size,omitzero"`
	// NextPageToken of the previous page; empty: the first page.
	PageToken string `json:"page_token,omitzero"`
}

// AuditEntry is one change of keys, device credentials, webhooks, settings, limits, status or credit.
type AuditEntry struct {
	// The id of the entry.
	ID string `json:"id"`
	// When it happened.
	At time.Time `json:"at,omitzero"`
	// Who made the change.
	Actor AuditActor `json:"actor"`
	// What was done, such as key_revoked. More actions may follow.
	Action string `json:"action"`
	// The id of what was changed. Empty: there is only one of it.
	Subject string `json:"subject,omitzero"`
	// An object with the fields that changed, as they were. Nil: there was nothing.
	Before json.RawMessage `json:"before,omitzero"`
	// The same as they are now. Nil: there is nothing.
	After json.RawMessage `json:"after,omitzero"`
}

// AuditActor is who made a change.
type AuditActor struct {
	// What it is.
	Kind AuditActorKind `json:"kind"`
	// The id of the key, or the part of the service. Empty: an operator.
	ID string `json:"id,omitzero"`
	// From where the key was used; (erased) after 400 days. Empty: no key was.
	Address string `json:"address,omitzero"`
}

// AuditActorKind is what made a change.
type AuditActorKind string

// Kinds of actors in the audit trail.
const (
	// AuditKey is a caller with an API key.
	AuditKey AuditActorKind = "key"
	// AuditOperator is an operator of the deployment.
	AuditOperator AuditActorKind = "operator"
	// AuditSystem is the service itself.
	AuditSystem AuditActorKind = "system"
)

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

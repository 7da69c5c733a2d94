package boxoffice

import (
	"context"
	"iter"
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

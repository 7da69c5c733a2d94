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

// Sessions yields sessions of participants, those that began last first.
func (u *Usage) Sessions(ctx context.Context, request ListSessions, options ...CallOption) iter.Seq2[*Session, error] {
	return itemsOf(u.SessionPages(ctx, request, options...))
}

// SessionPages yields the pages of Sessions.
func (u *Usage) SessionPages(ctx context.Context, request ListSessions, options ...CallOption) iter.Seq2[*Page[Session], error] {
	var asked filter
	asked.optional("room", request.Room)
	asked.text("participant", request.Participant)
	asked.text("key", request.Key)
	asked.text("customer", request.Customer)
	asked.at("from", request.From)
	asked.at("to", request.To)
	asked.number("limit", request.PageSize)
	op := operation{name: "Usage.Sessions", path: "/v1/sessions"}
	return pagesOfREST[Session](ctx, u.rest, op, "sessions", asked, request.PageToken, options)
}

// Session shows one session, with its newest records. It fails with [ErrNotFound] if there is none.
func (u *Usage) Session(ctx context.Context, request GetSession, options ...CallOption) (*ShownSession, error) {
	id, err := segment("id", request.ID)
	if err != nil {
		return nil, err
	}
	answer := new(ShownSession)
	op := operation{name: "Usage.Session", method: "GET", path: "/v1/sessions/" + id, mayRepeat: true}
	return orNil(answer, u.rest.call(ctx, op, answer, options))
}

// RoomCost shows what a room cost. It fails with [ErrNotFound] if there is none.
func (u *Usage) RoomCost(ctx context.Context, request GetRoomCost, options ...CallOption) (*RoomCost, error) {
	uid, err := segment("uid", request.UID)
	if err != nil {
		return nil, err
	}
	answer := new(RoomCost)
	op := operation{name: "Usage.RoomCost", method: "GET", path: "/v1/rooms/" + uid + "/cost", mayRepeat: true}
	return orNil(answer, u.rest.call(ctx, op, answer, options))
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

// Summary sums up usage over a period of at most 366 days. By hour, day or month, rows are in the order of time;
// otherwise the most expensive come first. Sums by participant, key or customer are those of sessions; what belongs
// to none is Unassigned. While there is a NextCursor, there are more rows.
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

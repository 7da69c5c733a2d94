package boxoffice

import (
	"context"
	"net/url"
)

// Keys are the API keys of the tenant.
type Keys struct {
	rest *rest
}

// StopService confirms that the last working key of its kind is revoked.
const StopService = "stop-service"

// ReasonWouldStopService is the reason of REST for refusing to revoke the last working key of its kind.
const ReasonWouldStopService = "WOULD_STOP_SERVICE"

// List reads all keys, oldest first, including revoked ones. It makes one request for each 500 keys.
func (k *Keys) List(ctx context.Context, options ...CallOption) ([]*Key, error) {
	keys := make([]*Key, 0)
	query := url.Values{}
	for {
		var page struct {
			Keys       []*Key `json:"keys"`
			NextCursor string `json:"next_cursor"`
		}
		op := operation{name: "Keys.List", method: "GET", path: "/v1/keys", query: query, mayRepeat: true}
		if err := k.rest.call(ctx, op, &page, options); err != nil {
			return nil, err
		}
		keys = append(keys, page.Keys...)
		if page.NextCursor == "" {
			return keys, nil
		}
		query = url.Values{"cursor": {page.NextCursor}}
	}
}

// Create creates a key. Only this answer contains APIKey; for 24 hours, a call with the same idempotency key
// gets it again.
func (k *Keys) Create(ctx context.Context, request CreateKey, options ...CallOption) (*CreatedKey, error) {
	answer := new(CreatedKey)
	op := operation{name: "Keys.Create", method: "POST", path: "/v1/keys", body: request, isWrite: true, hasSecret: true}
	return orNil(answer, k.rest.call(ctx, op, answer, options))
}

// Rotate replaces a key. The old one works on for the overlap.
func (k *Keys) Rotate(ctx context.Context, request RotateKey, options ...CallOption) (*RotatedKey, error) {
	id, err := segment("id", request.ID)
	if err != nil {
		return nil, err
	}
	answer := new(RotatedKey)
	body := struct {
		OverlapSeconds *int64 `json:"overlap_seconds,omitzero"`
	}{request.OverlapSeconds}
	op := operation{
		name: "Keys.Rotate", method: "POST", path: "/v1/keys/" + id + "/rotate", body: body,
		isWrite: true, hasSecret: true,
	}
	return orNil(answer, k.rest.call(ctx, op, answer, options))
}

// Revoke revokes a key at once. The last working key of its kind is refused with the reason
// [ReasonWouldStopService], unless Confirm is [StopService].
func (k *Keys) Revoke(ctx context.Context, request RevokeKey, options ...CallOption) error {
	id, err := segment("id", request.ID)
	if err != nil {
		return err
	}
	var asked filter
	asked.text("confirm", request.Confirm)
	op := operation{name: "Keys.Revoke", method: "DELETE", path: "/v1/keys/" + id, query: asked.values, isWrite: true}
	return k.rest.call(ctx, op, nil, options)
}

package boxoffice

import "context"

// SignUp creates a tenant, its first backend key and a checkout. It needs no API key. An address may sign up
// five times an hour: more is [ErrRateLimited]. The request is never repeated.
func (c *Client) SignUp(ctx context.Context, request SignUp, options ...CallOption) (*SignedUp, error) {
	answer := new(SignedUp)
	op := operation{name: "SignUp", method: "POST", path: "/v1/signup", body: request, isOpen: true, hasSecret: true}
	return orNil(answer, c.rest.call(ctx, op, answer, options))
}

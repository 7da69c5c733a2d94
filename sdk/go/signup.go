package boxoffice

import "context"

// SignUp is the request of [Client.SignUp]: the tenant to create.
type SignUp struct {
	// The address of the customer, at most 254 characters.
	Email string `json:"email"`
	// The name of the customer, 1 to 200 characters.
	Name string `json:"name"`
}

// SignedUp is a new tenant, its first backend key, and a page to pay on.
type SignedUp struct {
	// The id of the tenant.
	Tenant string `json:"tenant"`
	// [TenantPending], until the first payment.
	Status TenantStatus `json:"status"`
	// The plaintext of the first key, shown once.
	APIKey string `json:"api_key"`
	// The id of this key.
	KeyID string `json:"key_id"`
	// A page to pay on. Empty when none could be opened: see [Billing.Checkout].
	CheckoutURL string `json:"checkout_url"`
	// A reminder that the key is shown once.
	Note string `json:"note"`
}

// SignUp creates a tenant, its first backend key and a checkout. It needs no API key. An address may sign up
// five times an hour: more is [ErrRateLimited]. The request is never repeated.
func (c *Client) SignUp(ctx context.Context, request SignUp, options ...CallOption) (*SignedUp, error) {
	answer := new(SignedUp)
	op := operation{name: "SignUp", method: "POST", path: "/v1/signup", body: request, isOpen: true, hasSecret: true}
	return orNil(answer, c.rest.call(ctx, op, answer, options))
}

package boxoffice

import "context"

// Tokens are tokens for participants.
type Tokens struct {
	control *control
}

// Mint mints a token for one user, on one device, in one live room. A repeated attempt mints another token,
// which is harmless.
func (t *Tokens) Mint(ctx context.Context, request MintClientToken, options ...CallOption) (*MintedToken, error) {
	answer, err := query(ctx, t.control, t.control.tokens.MintClientToken, request, options)
	return orNil(fromMintedToken(answer), err)
}

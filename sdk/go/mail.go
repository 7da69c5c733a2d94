package boxoffice

import "context"

// Mail is who gets mail about the account.
type Mail struct {
	rest *rest
}

// Get reads the settings. Until they are set, the address given at signup gets alerts and receipts.
func (m *Mail) Get(ctx context.Context, options ...CallOption) (*MailSettings, error) {
	answer := new(MailSettings)
	op := operation{name: "Mail.Get", method: "GET", path: "/v1/mail", mayRepeat: true}
	return orNil(answer, m.rest.call(ctx, op, answer, options))
}

// Set replaces all settings. Addresses that differ only in case are one address.
func (m *Mail) Set(ctx context.Context, request SetMailSettings, options ...CallOption) (*MailSettings, error) {
	if request.Addresses == nil {
		request.Addresses = []string{}
	}
	answer := new(MailSettings)
	op := operation{name: "Mail.Set", method: "PUT", path: "/v1/mail", body: request, isWrite: true}
	return orNil(answer, m.rest.call(ctx, op, answer, options))
}

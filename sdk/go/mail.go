package boxoffice

import "context"

// Mail is who gets mail about the account.
type Mail struct {
	rest *rest
}

// MailSettings are the addresses, and what they get.
type MailSettings struct {
	// Whether Email gets mail.
	SignupAddress bool `json:"signup_address"`
	// The address given at signup.
	Email string `json:"email"`
	// Further addresses that get mail.
	Addresses []string `json:"addresses"`
	// Whether mails tell about what needs attention, such as a low balance.
	Alerts bool `json:"alerts"`
	// Whether mails confirm payments.
	Receipts bool `json:"receipts"`
	// Addresses, in lower case, whose owners want no alerts of this tenant. Only a link in an alert changes that.
	Unsubscribed []string `json:"unsubscribed"`
}

// SetMailSettings is the request of [Mail.Set]: all settings.
type SetMailSettings struct {
	// Further addresses that get mail, in ASCII; at most five.
	Addresses []string `json:"addresses"`
	// Whether mails tell about what needs attention, such as a low balance.
	Alerts bool `json:"alerts"`
	// Whether mails confirm payments.
	Receipts bool `json:"receipts"`
	// Whether the address given at signup gets mail; nil: it does.
	SignupAddress *bool `json:"signup_address,omitzero"`
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

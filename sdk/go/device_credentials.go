package boxoffice

import (
	"context"
	"iter"
	"time"
)

// DeviceCredentials are credentials for devices without a back end. They are managed over the control plane,
// where a call can be repeated safely.
type DeviceCredentials struct {
	control *control
}

// CreatedCredential is a new credential.
type CreatedCredential struct {
	// The credential without its secret.
	DeviceCredential *DeviceCredential `json:"device_credential,omitzero"`
	// The plaintext that the device presents; no later answer contains it.
	Credential Secret `json:"credential"`
}

// RotatedCredential is the replacement of a credential.
type RotatedCredential struct {
	CreatedCredential
	// Until when the old one works.
	OldCredentialRetireTime time.Time `json:"old_credential_retire_time,omitzero"`
}

// Create creates a credential.
func (d *DeviceCredentials) Create(ctx context.Context, request CreateDeviceCredential, options ...CallOption) (*CreatedCredential, error) {
	answer, err := mutate(ctx, d.control, d.control.tokens.CreateDeviceCredential, request, options)
	return orNil(&CreatedCredential{fromDeviceCredential(answer.GetDeviceCredential()), NewSecret(answer.GetCredential())}, err)
}

// List yields all credentials, oldest first, including revoked ones.
func (d *DeviceCredentials) List(ctx context.Context, request ListDeviceCredentials, options ...CallOption) iter.Seq2[*DeviceCredential, error] {
	return itemsOf(d.Pages(ctx, request, options...))
}

// Pages yields the pages of List.
func (d *DeviceCredentials) Pages(ctx context.Context, request ListDeviceCredentials, options ...CallOption) iter.Seq2[*Page[DeviceCredential], error] {
	return pagesFrom(ctx, request.PageToken, func(ctx context.Context, pageToken string) (*Page[DeviceCredential], error) {
		request.PageToken = pageToken
		answer, err := query(ctx, d.control, d.control.tokens.ListDeviceCredentials, request, options)
		return &Page[DeviceCredential]{each(answer.GetDeviceCredentials(), fromDeviceCredential), answer.GetNextPageToken()}, err
	})
}

// Rotate replaces a credential. The old one works on for Overlap, by default a day.
func (d *DeviceCredentials) Rotate(ctx context.Context, request RotateDeviceCredential, options ...CallOption) (*RotatedCredential, error) {
	answer, err := mutate(ctx, d.control, d.control.tokens.RotateDeviceCredential, request, options)
	created := CreatedCredential{fromDeviceCredential(answer.GetDeviceCredential()), NewSecret(answer.GetCredential())}
	return orNil(&RotatedCredential{created, timeOf(answer.GetOldCredentialRetireTime())}, err)
}

// Revoke revokes a credential at once. Relays end the sessions that it opened.
func (d *DeviceCredentials) Revoke(ctx context.Context, request RevokeDeviceCredential, options ...CallOption) (*DeviceCredential, error) {
	answer, err := mutate(ctx, d.control, d.control.tokens.RevokeDeviceCredential, request, options)
	return fromDeviceCredential(answer.GetDeviceCredential()), err
}

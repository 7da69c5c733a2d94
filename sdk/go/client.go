package boxoffice

import (
	"context"
	"log/slog"
)

// Client is the client of one API key. Its methods may be called by many goroutines.
type Client struct {
	// Rooms are rooms and their events.
	Rooms *Rooms
	// Participants are the users of rooms.
	Participants *Participants
	// Moderation is kicks, bans and mutes.
	Moderation *Moderation
	// Tokens are tokens for participants.
	Tokens *Tokens
	// DeviceCredentials are credentials for devices without a back end.
	DeviceCredentials *DeviceCredentials
	// Watchdogs are timers on conditions of rooms.
	Watchdogs *Watchdogs
	// Keys are the API keys.
	Keys *Keys
	// Billing is balance, ledger and payments.
	Billing *Billing
	// Usage is reports of usage, and what was charged.
	Usage *Usage
	// Rates are the prices.
	Rates *Rates
	// Alerts are thresholds of credit.
	Alerts *Alerts
	// Budgets are what may be spent at most.
	Budgets *Budgets
	// Webhooks tell about events.
	Webhooks *Webhooks
	// Mail is who gets mail about the account.
	Mail *Mail
	// Audit is who changed what.
	Audit *Audit

	rest    *rest
	control *control
	tenant  *tenantLookup
	// end ends what follows events, and refuses later calls.
	end context.CancelFunc
}

// New makes a client. It connects with the first call. Invalid options are [ErrInvalid].
func New(options Options) (*Client, error) {
	if err := options.check(); err != nil {
		return nil, err
	}
	logger := options.Logger
	if logger == nil {
		logger = slog.New(slog.DiscardHandler)
	}
	life, end := context.WithCancel(context.Background())
	calls := &caller{limits: options.limits(), logger: logger, wait: waitAfter, life: life}
	rest := newRest(options, calls)
	tenant := &tenantLookup{known: options.Tenant, find: rest.findTenant}
	control := newControl(options, calls, tenant)
	return &Client{
		Rooms:             &Rooms{control},
		Participants:      &Participants{control, rest},
		Moderation:        &Moderation{control},
		Tokens:            &Tokens{control},
		DeviceCredentials: &DeviceCredentials{control},
		Watchdogs:         &Watchdogs{control},
		Keys:              &Keys{rest},
		Billing:           &Billing{rest},
		Usage:             &Usage{rest},
		Rates:             &Rates{rest},
		Alerts:            &Alerts{rest},
		Budgets:           &Budgets{rest},
		Webhooks:          &Webhooks{rest},
		Mail:              &Mail{rest},
		Audit:             &Audit{rest},
		rest:              rest,
		control:           control,
		tenant:            tenant,
		end:               end,
	}, nil
}

// Close ends the client: whatever follows events ends with [ErrClientClosed], and later calls fail with it. Calls in
// progress still finish. It may be called more than once.
func (c *Client) Close() {
	c.end()
	c.tenant.close()
	c.rest.close()
	c.control.close()
}

// String names the client without its key.
func (c *Client) String() string {
	return "boxoffice.Client"
}

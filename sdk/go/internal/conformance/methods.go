package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"iter"

	boxoffice "boxoffice.example/boxoffice/sdk/go"
)

// call runs a method with one answer; nil is none.
type call func(context.Context, *boxoffice.Client, json.RawMessage, []boxoffice.CallOption) (any, error)

// list runs a method with pages, and waits for page after each.
type list func(context.Context, *boxoffice.Client, json.RawMessage, []boxoffice.CallOption, func(page any) error) error

// watch runs a method with events.
type watch func(context.Context, *boxoffice.Client, json.RawMessage, []boxoffice.CallOption, func(event any)) error

// calls are the methods with one answer, by the names that the suite has for them.
func calls() map[string]call {
	return map[string]call{
		"rooms.create": with(func(c *boxoffice.Client) method[boxoffice.CreateRoom, *boxoffice.Room] { return c.Rooms.Create }),
		"rooms.get":    with(func(c *boxoffice.Client) method[boxoffice.GetRoom, *boxoffice.Room] { return c.Rooms.Get }),
		"rooms.update_policy": with(func(c *boxoffice.Client) method[boxoffice.UpdateRoomPolicy, *boxoffice.Room] {
			return c.Rooms.UpdatePolicy
		}),
		"rooms.end": with(func(c *boxoffice.Client) method[boxoffice.EndRoom, *boxoffice.Room] { return c.Rooms.End }),
		"rooms.list_events": with(func(c *boxoffice.Client) method[boxoffice.ListEvents, *boxoffice.ListedEvents] {
			return c.Rooms.ListEvents
		}),
		"participants.get": with(func(c *boxoffice.Client) method[boxoffice.GetParticipant, *boxoffice.Participant] {
			return c.Participants.Get
		}),
		"participants.erase": with(func(c *boxoffice.Client) method[boxoffice.EraseParticipant, *boxoffice.Erasure] {
			return c.Participants.Erase
		}),
		"participants.erasure": with(func(c *boxoffice.Client) method[boxoffice.GetErasure, *boxoffice.Erasure] {
			return c.Participants.Erasure
		}),
		"moderation.kick": with(func(c *boxoffice.Client) method[boxoffice.KickParticipant, *boxoffice.Moderated] {
			return c.Moderation.Kick
		}),
		"moderation.ban":   with(func(c *boxoffice.Client) method[boxoffice.BanSubject, *boxoffice.Banned] { return c.Moderation.Ban }),
		"moderation.unban": with(func(c *boxoffice.Client) method[boxoffice.UnbanSubject, *boxoffice.Banned] { return c.Moderation.Unban }),
		"moderation.force_mute": with(func(c *boxoffice.Client) method[boxoffice.ForceMute, *boxoffice.Moderated] {
			return c.Moderation.ForceMute
		}),
		"moderation.release_mute": with(func(c *boxoffice.Client) method[boxoffice.ReleaseMute, *boxoffice.Moderated] {
			return c.Moderation.ReleaseMute
		}),
		"moderation.revoke_publish": with(func(c *boxoffice.Client) method[boxoffice.RevokePublish, *boxoffice.Moderated] {
			return c.Moderation.RevokePublish
		}),
		"moderation.restore_publish": with(func(c *boxoffice.Client) method[boxoffice.RestorePublish, *boxoffice.Moderated] {
			return c.Moderation.RestorePublish
		}),
		"moderation.close_room": with(func(c *boxoffice.Client) method[boxoffice.CloseRoom, *boxoffice.ClosedRoom] {
			return c.Moderation.CloseRoom
		}),
		"tokens.mint": with(func(c *boxoffice.Client) method[boxoffice.MintClientToken, *boxoffice.MintedToken] {
			return c.Tokens.Mint
		}),
		"device_credentials.create": with(func(c *boxoffice.Client) method[boxoffice.CreateDeviceCredential, *boxoffice.CreatedCredential] {
			return c.DeviceCredentials.Create
		}),
		"device_credentials.rotate": with(func(c *boxoffice.Client) method[boxoffice.RotateDeviceCredential, *boxoffice.RotatedCredential] {
			return c.DeviceCredentials.Rotate
		}),
		"device_credentials.revoke": with(func(c *boxoffice.Client) method[boxoffice.RevokeDeviceCredential, *boxoffice.DeviceCredential] {
			return c.DeviceCredentials.Revoke
		}),
		"watchdogs.create": with(func(c *boxoffice.Client) method[boxoffice.CreateWatchdog, *boxoffice.Watchdog] {
			return c.Watchdogs.Create
		}),
		"watchdogs.get": with(func(c *boxoffice.Client) method[boxoffice.GetWatchdog, *boxoffice.Watchdog] { return c.Watchdogs.Get }),
		"watchdogs.update": with(func(c *boxoffice.Client) method[boxoffice.UpdateWatchdog, *boxoffice.Watchdog] {
			return c.Watchdogs.Update
		}),
		"watchdogs.delete":   without(func(c *boxoffice.Client) procedure[boxoffice.DeleteWatchdog] { return c.Watchdogs.Delete }),
		"keys.list":          plain(func(c *boxoffice.Client) query[[]*boxoffice.Key] { return c.Keys.List }),
		"keys.create":        with(func(c *boxoffice.Client) method[boxoffice.CreateKey, *boxoffice.CreatedKey] { return c.Keys.Create }),
		"keys.rotate":        with(func(c *boxoffice.Client) method[boxoffice.RotateKey, *boxoffice.RotatedKey] { return c.Keys.Rotate }),
		"keys.revoke":        without(func(c *boxoffice.Client) procedure[boxoffice.RevokeKey] { return c.Keys.Revoke }),
		"billing.get":        plain(func(c *boxoffice.Client) query[*boxoffice.Account] { return c.Billing.Get }),
		"billing.statements": plain(func(c *boxoffice.Client) query[[]*boxoffice.ListedStatement] { return c.Billing.Statements }),
		"billing.statement": with(func(c *boxoffice.Client) method[boxoffice.GetStatement, *boxoffice.SignedStatement] {
			return c.Billing.Statement
		}),
		"billing.receipt": with(func(c *boxoffice.Client) method[boxoffice.GetReceipt, *boxoffice.Receipt] {
			return c.Billing.Receipt
		}),
		"billing.checkout": with(func(c *boxoffice.Client) method[boxoffice.Checkout, *boxoffice.CheckoutPage] {
			return c.Billing.Checkout
		}),
		"billing.portal":  plain(func(c *boxoffice.Client) query[*boxoffice.PortalPage] { return c.Billing.Portal }),
		"billing.details": plain(func(c *boxoffice.Client) query[*boxoffice.BillingDetails] { return c.Billing.Details }),
		"billing.set_details": with(func(c *boxoffice.Client) method[boxoffice.SetBillingDetails, *boxoffice.BillingDetails] {
			return c.Billing.SetDetails
		}),
		"billing.time_zone": plain(func(c *boxoffice.Client) query[*boxoffice.TimeZone] { return c.Billing.TimeZone }),
		"billing.set_time_zone": with(func(c *boxoffice.Client) method[boxoffice.SetTimeZone, *boxoffice.TimeZone] {
			return c.Billing.SetTimeZone
		}),
		"billing.set_auto_top_up": with(func(c *boxoffice.Client) method[boxoffice.SetAutoTopUp, *boxoffice.Tenant] {
			return c.Billing.SetAutoTopUp
		}),
		"billing.runway": with(func(c *boxoffice.Client) method[boxoffice.GetRunway, *boxoffice.Runway] { return c.Billing.Runway }),
		"alerts.get":     plain(func(c *boxoffice.Client) query[[]*boxoffice.ThresholdStatus] { return c.Alerts.Get }),
		"alerts.set": with(func(c *boxoffice.Client) method[boxoffice.SetAlerts, []*boxoffice.ThresholdStatus] {
			return c.Alerts.Set
		}),
		"mail.get": plain(func(c *boxoffice.Client) query[*boxoffice.MailSettings] { return c.Mail.Get }),
		"mail.set": with(func(c *boxoffice.Client) method[boxoffice.SetMailSettings, *boxoffice.MailSettings] {
			return c.Mail.Set
		}),
		"budgets.list":   plain(func(c *boxoffice.Client) query[[]*boxoffice.Budget] { return c.Budgets.List }),
		"budgets.get":    with(func(c *boxoffice.Client) method[boxoffice.GetBudget, *boxoffice.Budget] { return c.Budgets.Get }),
		"budgets.set":    with(func(c *boxoffice.Client) method[boxoffice.SetBudget, *boxoffice.Budget] { return c.Budgets.Set }),
		"budgets.delete": without(func(c *boxoffice.Client) procedure[boxoffice.DeleteBudget] { return c.Budgets.Delete }),
		"webhooks.create": with(func(c *boxoffice.Client) method[boxoffice.CreateWebhook, *boxoffice.CreatedWebhook] {
			return c.Webhooks.Create
		}),
		"webhooks.list": plain(func(c *boxoffice.Client) query[[]*boxoffice.Webhook] { return c.Webhooks.List }),
		"webhooks.get":  with(func(c *boxoffice.Client) method[boxoffice.GetWebhook, *boxoffice.Webhook] { return c.Webhooks.Get }),
		"webhooks.change": with(func(c *boxoffice.Client) method[boxoffice.ChangeWebhook, *boxoffice.Webhook] {
			return c.Webhooks.Change
		}),
		"webhooks.delete": without(func(c *boxoffice.Client) procedure[boxoffice.DeleteWebhook] { return c.Webhooks.Delete }),
		"webhooks.rotate_secret": with(func(c *boxoffice.Client) method[boxoffice.RotateWebhookSecret, *boxoffice.RotatedWebhookSecret] {
			return c.Webhooks.RotateSecret
		}),
		"webhooks.test": with(func(c *boxoffice.Client) method[boxoffice.TestWebhook, *boxoffice.WebhookDelivery] {
			return c.Webhooks.Test
		}),
		"webhooks.resend": with(func(c *boxoffice.Client) method[boxoffice.ResendEvent, *boxoffice.WebhookDelivery] {
			return c.Webhooks.Resend
		}),
		"webhooks.resend_since": with(func(c *boxoffice.Client) method[boxoffice.ResendSince, *boxoffice.Webhook] {
			return c.Webhooks.ResendSince
		}),
		"webhooks.resend_failed": with(func(c *boxoffice.Client) method[boxoffice.ResendFailed, *boxoffice.ResentEvents] {
			return c.Webhooks.ResendFailed
		}),
		"webhooks.pull_events": with(func(c *boxoffice.Client) method[boxoffice.PullEvents, *boxoffice.PulledEvents] {
			return c.Webhooks.PullEvents
		}),
		"usage.report": with(func(c *boxoffice.Client) method[boxoffice.ReportUsage, *boxoffice.ChargedUsage] {
			return c.Usage.Report
		}),
		"usage.look_up": with(func(c *boxoffice.Client) method[boxoffice.LookUpUsage, []*boxoffice.LookedUpRecord] {
			return c.Usage.LookUp
		}),
		"usage.summary": with(func(c *boxoffice.Client) method[boxoffice.SummarizeUsage, *boxoffice.UsageSummary] {
			return c.Usage.Summary
		}),
		"usage.session": with(func(c *boxoffice.Client) method[boxoffice.GetSession, *boxoffice.ShownSession] {
			return c.Usage.Session
		}),
		"usage.room_cost": with(func(c *boxoffice.Client) method[boxoffice.GetRoomCost, *boxoffice.RoomCost] {
			return c.Usage.RoomCost
		}),
		"usage.explain": with(func(c *boxoffice.Client) method[boxoffice.ExplainUsage, *boxoffice.ExplainedUsage] {
			return c.Usage.Explain
		}),
		"rates.simulate": with(func(c *boxoffice.Client) method[boxoffice.SimulateRoom, *boxoffice.Simulation] {
			return c.Rates.Simulate
		}),
		"rates.get": plain(func(c *boxoffice.Client) query[*boxoffice.RateCard] { return c.Rates.Get }),
		"sign_up":   with(func(c *boxoffice.Client) method[boxoffice.SignUp, *boxoffice.SignedUp] { return c.SignUp }),
	}
}

// lists are the methods with pages.
func lists() map[string]list {
	return map[string]list{
		"rooms.list": paged(func(c *boxoffice.Client) pages[boxoffice.ListRooms, boxoffice.Room] { return c.Rooms.Pages }),
		"participants.list": paged(func(c *boxoffice.Client) pages[boxoffice.ListParticipants, boxoffice.Participant] {
			return c.Participants.Pages
		}),
		"moderation.list_bans": paged(func(c *boxoffice.Client) pages[boxoffice.ListBans, boxoffice.Ban] { return c.Moderation.BanPages }),
		"moderation.list_events": paged(func(c *boxoffice.Client) pages[boxoffice.ListModerationEvents, boxoffice.ModerationEvent] {
			return c.Moderation.EventPages
		}),
		"device_credentials.list": paged(func(c *boxoffice.Client) pages[boxoffice.ListDeviceCredentials, boxoffice.DeviceCredential] {
			return c.DeviceCredentials.Pages
		}),
		"watchdogs.list": paged(func(c *boxoffice.Client) pages[boxoffice.ListWatchdogs, boxoffice.Watchdog] { return c.Watchdogs.Pages }),
		"billing.ledger": paged(func(c *boxoffice.Client) pages[boxoffice.ListLedger, boxoffice.LedgerEntry] {
			return c.Billing.LedgerPages
		}),
		"billing.grants": paged(func(c *boxoffice.Client) pages[boxoffice.ListGrants, boxoffice.Grant] {
			return c.Billing.GrantPages
		}),
		"billing.payments": paged(func(c *boxoffice.Client) pages[boxoffice.ListPayments, boxoffice.Payment] {
			return c.Billing.PaymentPages
		}),
		"usage.records": paged(func(c *boxoffice.Client) pages[boxoffice.ListUsageRecords, boxoffice.ChargedRecord] {
			return c.Usage.RecordPages
		}),
		"usage.sessions": paged(func(c *boxoffice.Client) pages[boxoffice.ListSessions, boxoffice.Session] {
			return c.Usage.SessionPages
		}),
		"usage.conflicts": paged(func(c *boxoffice.Client) pages[boxoffice.ListUsageConflicts, boxoffice.UsageConflict] {
			return c.Usage.ConflictPages
		}),
		"webhooks.deliveries": paged(func(c *boxoffice.Client) pages[boxoffice.ListDeliveries, boxoffice.WebhookDelivery] {
			return c.Webhooks.DeliveryPages
		}),
		"webhooks.dead_letters": paged(func(c *boxoffice.Client) pages[boxoffice.ListDeadLetters, boxoffice.DeadLetter] {
			return c.Webhooks.DeadLetterPages
		}),
		"audit.list": paged(func(c *boxoffice.Client) pages[boxoffice.ListAudit, boxoffice.AuditEntry] { return c.Audit.Pages }),
	}
}

// watches are the methods with events.
func watches() map[string]watch {
	return map[string]watch{
		"rooms.watch": watched(func(c *boxoffice.Client) events[boxoffice.WatchEvents, boxoffice.WatchedEvent] { return c.Rooms.Watch }),
		"participants.watch": watched(func(c *boxoffice.Client) events[boxoffice.WatchParticipants, boxoffice.WatchedEvent] {
			return c.Participants.Watch
		}),
		"webhooks.follow_events": watched(func(c *boxoffice.Client) events[boxoffice.FollowEvents, boxoffice.WebhookEvent] {
			return c.Webhooks.FollowEvents
		}),
	}
}

// The shapes of the SDK's methods.
type (
	method[Request, Answer any] func(context.Context, Request, ...boxoffice.CallOption) (Answer, error)
	procedure[Request any]      func(context.Context, Request, ...boxoffice.CallOption) error
	query[Answer any]           func(context.Context, ...boxoffice.CallOption) (Answer, error)
	pages[Request, Item any]    func(context.Context, Request, ...boxoffice.CallOption) iter.Seq2[*boxoffice.Page[Item], error]
	events[Request, Event any]  func(context.Context, Request, ...boxoffice.CallOption) iter.Seq2[*Event, error]
)

func with[Request, Answer any](of func(*boxoffice.Client) method[Request, Answer]) call {
	return func(ctx context.Context, c *boxoffice.Client, text json.RawMessage, options []boxoffice.CallOption) (any, error) {
		request, err := decode[Request](text)
		if err != nil {
			return nil, err
		}
		return of(c)(ctx, request, options...)
	}
}

func without[Request any](of func(*boxoffice.Client) procedure[Request]) call {
	return func(ctx context.Context, c *boxoffice.Client, text json.RawMessage, options []boxoffice.CallOption) (any, error) {
		request, err := decode[Request](text)
		if err != nil {
			return nil, err
		}
		return nil, of(c)(ctx, request, options...)
	}
}

func plain[Answer any](of func(*boxoffice.Client) query[Answer]) call {
	return func(ctx context.Context, c *boxoffice.Client, _ json.RawMessage, options []boxoffice.CallOption) (any, error) {
		return of(c)(ctx, options...)
	}
}

func paged[Request, Item any](of func(*boxoffice.Client) pages[Request, Item]) list {
	return func(ctx context.Context, c *boxoffice.Client, text json.RawMessage, options []boxoffice.CallOption, page func(any) error) error {
		request, err := decode[Request](text)
		if err != nil {
			return err
		}
		for each, err := range of(c)(ctx, request, options...) {
			if err != nil {
				return err
			}
			if err := page(each.Items); err != nil {
				return err
			}
		}
		return nil
	}
}

func watched[Request, Event any](of func(*boxoffice.Client) events[Request, Event]) watch {
	return func(ctx context.Context, c *boxoffice.Client, text json.RawMessage, options []boxoffice.CallOption, event func(any)) error {
		request, err := decode[Request](text)
		if err != nil {
			return err
		}
		for each, err := range of(c)(ctx, request, options...) {
			if err != nil {
				return err
			}
			event(each)
		}
		return nil
	}
}

func find[Method any](methods map[string]Method, name string) (Method, error) {
	found, ok := methods[name]
	if !ok {
		return found, fmt.Errorf("there is no method %q", name)
	}
	return found, nil
}

// decode reads a request. A field that this SDK does not have is an error.
func decode[Request any](text json.RawMessage) (Request, error) {
	var request Request
	if len(text) == 0 {
		return request, nil
	}
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	err := decoder.Decode(&request)
	return request, err
}

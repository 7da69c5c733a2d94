package boxoffice

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// asked is a request of REST.
type asked struct {
	line, body, authorization string
}

// answering is a client of an interface that answers everything with text, and what it was asked.
func answering(t *testing.T, status int, text string) (*Client, func() []asked) {
	t.Helper()
	var mutex sync.Mutex
	var all []asked
	url := startREST(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		mutex.Lock()
		all = append(all, asked{r.Method + " " + r.URL.RequestURI(), string(body), r.Header.Get("Authorization")})
		mutex.Unlock()
		w.WriteHeader(status)
		fmt.Fprint(w, text)
	})
	client := newTestClient(t, Options{URL: url + "/"})
	return client, func() []asked {
		mutex.Lock()
		defer mutex.Unlock()
		return all
	}
}

// keysOfREST is a client of an interface that is never ready, and the idempotency keys that it was sent.
func keysOfREST(t *testing.T) (*Client, func() []string) {
	t.Helper()
	var mutex sync.Mutex
	var all []string
	url := startREST(t, func(w http.ResponseWriter, r *http.Request) {
		mutex.Lock()
		defer mutex.Unlock()
		all = append(all, r.Header.Get("Idempotency-Key"))
		w.WriteHeader(http.StatusServiceUnavailable)
	})
	return newTestClient(t, Options{URL: url}), func() []string {
		mutex.Lock()
		defer mutex.Unlock()
		return all
	}
}

var someTime = time.Date(2026, 1, 2, 4, 4, 5, 678_000_000, time.FixedZone("", 3600))

// drain returns the error that a sequence ends with.
func drain[T any](items iter.Seq2[T, error]) error {
	for _, err := range items {
		if err != nil {
			return err
		}
	}
	return nil
}

func TestRequestsOfREST(t *testing.T) {
	cases := []struct {
		line, body string
		call       func(c *Client) error
		repeats    bool
	}{
		{"GET /v1/rates", "", func(c *Client) error { _, err := c.Rates.Get(t.Context()); return err }, true},
		{"GET /v1/billing", "", func(c *Client) error { _, err := c.Billing.Get(t.Context()); return err }, true},
		{"POST /v1/billing/checkout", `{"amount_cents":2000}`, func(c *Client) error {
			_, err := c.Billing.Checkout(t.Context(), Checkout{AmountCents: 2000})
			return err
		}, true},
		{"POST /v1/billing/portal", "", func(c *Client) error { _, err := c.Billing.Portal(t.Context()); return err }, true},
		{"PUT /v1/billing/auto-top-up", `{"enabled":true,"below_cents":0,"amount_cents":5000}`, func(c *Client) error {
			request := SetAutoTopUp{Enabled: true, BelowCents: Ptr[int64](0), AmountCents: Ptr[int64](5000)}
			_, err := c.Billing.SetAutoTopUp(t.Context(), request)
			return err
		}, true},
		{"GET /v1/billing/details", "", func(c *Client) error { _, err := c.Billing.Details(t.Context()); return err }, true},
		{"PUT /v1/billing/details", `{"address":["Am Kai 1"],"tax_id":"DE1"}`, func(c *Client) error {
			_, err := c.Billing.SetDetails(t.Context(), SetBillingDetails{Address: []string{"Am Kai 1"}, TaxID: "DE1"})
			return err
		}, true},
		{"GET /v1/billing/time-zone", "", func(c *Client) error { _, err := c.Billing.TimeZone(t.Context()); return err }, true},
		{"PUT /v1/billing/time-zone", `{"time_zone":"Asia/Tokyo"}`, func(c *Client) error {
			_, err := c.Billing.SetTimeZone(t.Context(), SetTimeZone{TimeZone: "Asia/Tokyo"})
			return err
		}, true},
		{"GET /v1/keys", "", func(c *Client) error { _, err := c.Keys.List(t.Context()); return err }, true},
		{"POST /v1/keys", `{"name":"relay","kind":"relay"}`, func(c *Client) error {
			_, err := c.Keys.Create(t.Context(), CreateKey{Name: "relay", Kind: KeyRelay})
			return err
		}, true},
		{"POST /v1/keys/0f7e/rotate", `{"overlap_seconds":0}`, func(c *Client) error {
			_, err := c.Keys.Rotate(t.Context(), RotateKey{ID: "0f7e", OverlapSeconds: Ptr[int64](0)})
			return err
		}, true},
		{"POST /v1/keys/0f7e/rotate", `{}`, func(c *Client) error {
			_, err := c.Keys.Rotate(t.Context(), RotateKey{ID: "0f7e"})
			return err
		}, true},
		{"DELETE /v1/keys/a%2Fb", "", func(c *Client) error { return c.Keys.Revoke(t.Context(), RevokeKey{ID: "a/b"}) }, true},
		{"DELETE /v1/keys/0f7e?confirm=stop-service", "", func(c *Client) error {
			return c.Keys.Revoke(t.Context(), RevokeKey{ID: "0f7e", Confirm: StopService})
		}, true},
		{"POST /v1/usage", `{"records":[{"id":"1","role":"host","tier":"2k_plus","seconds":60,"egress_bytes":5,"ingress_bytes":0}]}`,
			func(c *Client) error {
				record := UsageRecord{ID: "1", Role: RoleHost, Tier: Tier2KPlus, Seconds: 60, EgressBytes: 5}
				_, err := c.Usage.Report(t.Context(), ReportUsage{Records: []UsageRecord{record}})
				return err
			}, true},
		{"POST /v1/usage", `{"records":[]}`, func(c *Client) error { _, err := c.Usage.Report(t.Context(), ReportUsage{}); return err }, true},
		{"GET /v1/ledger?from=2026-01-02T03%3A04%3A05.678Z&kind=usage%2Ctop_up&limit=2&participant=%C3%A4%26b&room=", "",
			func(c *Client) error {
				return drain(c.Billing.Ledger(t.Context(), ListLedger{
					Kinds: []LedgerKind{LedgerUsage, LedgerTopUp}, Room: Ptr(""), Participant: "ä&b", From: someTime, PageSize: 2,
				}))
			}, true},
		{"GET /v1/ledger", "", func(c *Client) error { return drain(c.Billing.Ledger(t.Context(), ListLedger{})) }, true},
		{"GET /v1/usage/records?cursor=x%261&role=host&room=lobby&tier=2k&to=2026-01-02T03%3A04%3A05.678Z", "", func(c *Client) error {
			return drain(c.Usage.Records(t.Context(), ListUsageRecords{
				Room: Ptr("lobby"), Role: RoleHost, Tier: Tier2K, To: someTime, PageToken: "x&1",
			}))
		}, true},
		{"GET /v1/usage/conflicts", "", func(c *Client) error {
			return drain(c.Usage.Conflicts(t.Context(), ListUsageConflicts{}))
		}, true},
		{"GET /v1/usage/summary?cursor=x&group_by=day%2Croom&limit=5", "", func(c *Client) error {
			_, err := c.Usage.Summary(t.Context(), SummarizeUsage{GroupBy: []UsageGrouping{ByDay, ByRoom}, Limit: 5, Cursor: "x"})
			return err
		}, true},
		{"GET /v1/usage/a%2Fb%3F%23%25%C3%A9%F0%9F%8E%9F/explain", "", func(c *Client) error {
			_, err := c.Usage.Explain(t.Context(), ExplainUsage{ID: "a/b?#%é🎟"})
			return err
		}, true},
		{"POST /v1/usage/lookup", `{"ids":["r"]}`, func(c *Client) error {
			_, err := c.Usage.LookUp(t.Context(), LookUpUsage{IDs: []string{"r"}})
			return err
		}, true},
		{"POST /v1/usage/lookup", `{"ids":[]}`, func(c *Client) error { _, err := c.Usage.LookUp(t.Context(), LookUpUsage{}); return err }, true},
		{"POST /v1/rates/simulate", `{"participants":[{"role":"host","tier":"hd","count":2,"seconds":0,"egress_bytes":5,"interval_seconds":30}]}`,
			func(c *Client) error {
				each := SimulatedParticipants{Role: RoleHost, Tier: TierHD, Count: 2, EgressBytes: 5, IntervalSeconds: 30}
				_, err := c.Rates.Simulate(t.Context(), SimulateRoom{Participants: []SimulatedParticipants{each}})
				return err
			}, true},
		{"POST /v1/rates/simulate", `{"participants":[]}`, func(c *Client) error {
			_, err := c.Rates.Simulate(t.Context(), SimulateRoom{})
			return err
		}, true},
		{"GET /v1/statements", "", func(c *Client) error { _, err := c.Billing.Statements(t.Context()); return err }, true},
		{"GET /v1/statements/2026-10", "", func(c *Client) error {
			_, err := c.Billing.Statement(t.Context(), GetStatement{Month: "2026-10"})
			return err
		}, true},
		{"GET /v1/statements/2026-10?so_far=true", "", func(c *Client) error {
			_, err := c.Billing.Statement(t.Context(), GetStatement{Month: "2026-10", SoFar: true})
			return err
		}, true},
		{"GET /v1/grants?cursor=x", "", func(c *Client) error {
			return drain(c.Billing.Grants(t.Context(), ListGrants{PageToken: "x"}))
		}, true},
		{"GET /v1/payments?cursor=x&from=2026-11-01T00%3A00%3A00Z&limit=5", "", func(c *Client) error {
			from := time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)
			return drain(c.Billing.Payments(t.Context(), ListPayments{PageToken: "x", PageSize: 5, From: from}))
		}, true},
		{"GET /v1/payments/pi%2F1/receipt", "", func(c *Client) error {
			_, err := c.Billing.Receipt(t.Context(), GetReceipt{ID: "pi/1"})
			return err
		}, true},
		{"GET /v1/billing/runway", "", func(c *Client) error {
			_, err := c.Billing.Runway(t.Context(), GetRunway{})
			return err
		}, true},
		{"GET /v1/billing/runway?window=7d", "", func(c *Client) error {
			_, err := c.Billing.Runway(t.Context(), GetRunway{Window: RunwayWeek})
			return err
		}, true},
		{"GET /v1/alerts", "", func(c *Client) error { _, err := c.Alerts.Get(t.Context()); return err }, true},
		{"PUT /v1/alerts", `{"thresholds":[{"kind":"balance","below_micros":0},{"kind":"runway","below_hours":24}]}`, func(c *Client) error {
			_, err := c.Alerts.Set(t.Context(), SetAlerts{Thresholds: []Threshold{
				{Kind: ThresholdBalance, BelowMicros: Ptr[Micros](0)}, {Kind: ThresholdRunway, BelowHours: 24},
			}})
			return err
		}, true},
		{"PUT /v1/alerts", `{"thresholds":[]}`, func(c *Client) error { _, err := c.Alerts.Set(t.Context(), SetAlerts{}); return err }, true},
		{"GET /v1/budgets", "", func(c *Client) error { _, err := c.Budgets.List(t.Context()); return err }, true},
		{"GET /v1/budgets/a%2Fb", "", func(c *Client) error {
			_, err := c.Budgets.Get(t.Context(), GetBudget{ID: "a/b"})
			return err
		}, true},
		{"PUT /v1/budgets/acme", `{"room":"class-*","period":"month","limit_micros":5,"hard":true}`, func(c *Client) error {
			_, err := c.Budgets.Set(t.Context(), SetBudget{ID: "acme", Room: "class-*", Period: BudgetForMonth, LimitMicros: 5, Hard: true})
			return err
		}, true},
		{"DELETE /v1/budgets/acme", "", func(c *Client) error {
			return c.Budgets.Delete(t.Context(), DeleteBudget{ID: "acme"})
		}, true},
		{"GET /v1/mail", "", func(c *Client) error { _, err := c.Mail.Get(t.Context()); return err }, true},
		{"PUT /v1/mail", `{"addresses":["ops@example.com"],"alerts":true,"receipts":false,"signup_address":false}`, func(c *Client) error {
			request := SetMailSettings{Addresses: []string{"ops@example.com"}, Alerts: true, SignupAddress: Ptr(false)}
			_, err := c.Mail.Set(t.Context(), request)
			return err
		}, true},
		{"PUT /v1/mail", `{"addresses":[],"alerts":false,"receipts":false}`, func(c *Client) error {
			_, err := c.Mail.Set(t.Context(), SetMailSettings{})
			return err
		}, true},
		{"GET /v1/audit?action=key_created&cursor=x&from=2026-01-02T03%3A04%3A05.678Z&limit=5&subject=a%26b&to=2026-01-02T03%3A04%3A05.678Z", "",
			func(c *Client) error {
				return drain(c.Audit.List(t.Context(), ListAudit{
					Action: "key_created", Subject: "a&b", From: someTime, To: someTime, PageSize: 5, PageToken: "x",
				}))
			}, true},
		{"GET /v1/webhooks", "", func(c *Client) error { _, err := c.Webhooks.List(t.Context()); return err }, true},
		{"POST /v1/webhooks", `{"url":"https://x.example/"}`, func(c *Client) error {
			_, err := c.Webhooks.Create(t.Context(), CreateWebhook{URL: "https://x.example/"})
			return err
		}, true},
		{"POST /v1/webhooks", `{"url":"https://x.example/","types":["moderation"],"description":"mine"}`, func(c *Client) error {
			request := CreateWebhook{URL: "https://x.example/", Types: []EventType{EventModeration}, Description: "mine"}
			_, err := c.Webhooks.Create(t.Context(), request)
			return err
		}, true},
		{"POST /v1/webhooks", `{"url":"https://x.example/","headers":[{"name":"x-key","value":"y"}],"basic_auth":{"username":"ann","password":"z"}}`, func(c *Client) error {
			_, err := c.Webhooks.Create(t.Context(), CreateWebhook{
				URL: "https://x.example/", Headers: []WebhookHeader{{"x-key", NewSecret("y")}}, BasicAuth: BasicAuth{"ann", NewSecret("z")},
			})
			return err
		}, true},
		{"GET /v1/webhooks/wh%2F1", "", func(c *Client) error {
			_, err := c.Webhooks.Get(t.Context(), GetWebhook{ID: "wh/1"})
			return err
		}, true},
		{"PATCH /v1/webhooks/wh_1", `{"paused":true}`, func(c *Client) error {
			_, err := c.Webhooks.Change(t.Context(), ChangeWebhook{ID: "wh_1", Paused: Ptr(true)})
			return err
		}, true},
		{"PATCH /v1/webhooks/wh_1", `{"url":"https://x.example/","types":[],"description":"","paused":false}`, func(c *Client) error {
			_, err := c.Webhooks.Change(t.Context(), ChangeWebhook{
				ID: "wh_1", URL: Ptr("https://x.example/"), Types: []EventType{}, Description: Ptr(""), Paused: Ptr(false),
			})
			return err
		}, true},
		{"DELETE /v1/webhooks/wh_1", "", func(c *Client) error {
			return c.Webhooks.Delete(t.Context(), DeleteWebhook{ID: "wh_1"})
		}, true},
		{"POST /v1/webhooks/wh_1/rotate", `{}`, func(c *Client) error {
			_, err := c.Webhooks.RotateSecret(t.Context(), RotateWebhookSecret{ID: "wh_1"})
			return err
		}, true},
		{"POST /v1/webhooks/wh_1/rotate", `{"overlap_seconds":0}`, func(c *Client) error {
			_, err := c.Webhooks.RotateSecret(t.Context(), RotateWebhookSecret{ID: "wh_1", OverlapSeconds: Ptr[int64](0)})
			return err
		}, true},
		{"POST /v1/webhooks/wh_1/test", "", func(c *Client) error {
			_, err := c.Webhooks.Test(t.Context(), TestWebhook{ID: "wh_1"})
			return err
		}, true},
		{"POST /v1/webhooks/wh_1/resend", `{"seq":42}`, func(c *Client) error {
			_, err := c.Webhooks.Resend(t.Context(), ResendEvent{ID: "wh_1", Seq: 42})
			return err
		}, true},
		{"POST /v1/webhooks/wh_1/resend", `{"since":"2026-01-02T03:04:05.678Z"}`, func(c *Client) error {
			_, err := c.Webhooks.ResendSince(t.Context(), ResendSince{ID: "wh_1", Since: someTime})
			return err
		}, true},
		{"PATCH /v1/webhooks/wh_1", `{"rooms":[],"headers":[{"name":"x-key","value":"y"}],"basic_auth":{"username":"","password":""}}`, func(c *Client) error {
			_, err := c.Webhooks.Change(t.Context(), ChangeWebhook{
				ID: "wh_1", Rooms: []string{}, Headers: []WebhookHeader{{"x-key", NewSecret("y")}}, BasicAuth: &BasicAuth{},
			})
			return err
		}, true},
		{"POST /v1/webhooks/wh_1/resend", `{"since":"2026-01-02T03:04:05.678Z","only_failed":true}`, func(c *Client) error {
			_, err := c.Webhooks.ResendFailed(t.Context(), ResendFailed{ID: "wh_1", Since: someTime})
			return err
		}, true},
		{"GET /v1/webhooks/wh_1/dead-letters?cursor=x&limit=5", "", func(c *Client) error {
			return drain(c.Webhooks.DeadLetters(t.Context(), ListDeadLetters{ID: "wh_1", PageSize: 5, PageToken: "x"}))
		}, true},
		{"GET /v1/webhooks/wh_1/deliveries?cursor=x&limit=5", "", func(c *Client) error {
			return drain(c.Webhooks.Deliveries(t.Context(), ListDeliveries{ID: "wh_1", PageSize: 5, PageToken: "x"}))
		}, true},
		{"GET /v1/events", "", func(c *Client) error {
			_, err := c.Webhooks.PullEvents(t.Context(), PullEvents{})
			return err
		}, true},
		{"GET /v1/events?after=0&limit=5&types=moderation%2Ccredit_spent&wait_seconds=20", "", func(c *Client) error {
			_, err := c.Webhooks.PullEvents(t.Context(), PullEvents{
				After: Ptr[uint64](0), Types: []EventType{EventModeration, EventCreditSpent}, Limit: 5, WaitSeconds: 20,
			})
			return err
		}, true},
		{"POST /v1/participants/erase", `{"participant":"ann"}`, func(c *Client) error {
			_, err := c.Participants.Erase(t.Context(), EraseParticipant{Participant: "ann"})
			return err
		}, true},
		{"GET /v1/erasures/er_1", "", func(c *Client) error {
			_, err := c.Participants.Erasure(t.Context(), GetErasure{ID: "er_1"})
			return err
		}, true},
		{"POST /v1/signup", `{"email":"you@example.com","name":"You"}`, func(c *Client) error {
			_, err := c.SignUp(t.Context(), SignUp{Email: "you@example.com", Name: "You"})
			return err
		}, false},
	}
	for _, each := range cases {
		t.Run(each.line, func(t *testing.T) {
			text := `{"entries":[],"conflicts":[],"payments":[],"grants":[],"deliveries":[],"dead_letters":[]}`
			if strings.Contains(each.line, "/records") {
				text = `{"records":[]}`
			}
			client, all := answering(t, 200, text)
			if err := each.call(client); err != nil {
				t.Fatal(err)
			}
			if want := (asked{each.line, each.body, "Bearer " + testKey}); len(all()) != 1 || all()[0] != want {
				t.Errorf("asked %q", all())
			}
		})
		for _, status := range []int{500, 502, 503, 504, 400, 404, 409, 429} {
			t.Run(fmt.Sprint(each.line, " after ", status), func(t *testing.T) {
				client, all := answering(t, status, "")
				if err := each.call(client); err == nil {
					t.Fatal("no error")
				}
				attempts := 1
				if each.repeats && status >= 500 {
					attempts = 5
				}
				if len(all()) != attempts {
					t.Errorf("%d attempts", len(all()))
				}
			})
		}
	}
}

func TestIdempotencyKeysOfREST(t *testing.T) {
	writes := map[string]func(c *Client, options ...CallOption) error{
		"Keys.Create": func(c *Client, options ...CallOption) error {
			_, err := c.Keys.Create(t.Context(), CreateKey{Name: "x"}, options...)
			return err
		},
		"Keys.Rotate": func(c *Client, options ...CallOption) error {
			_, err := c.Keys.Rotate(t.Context(), RotateKey{ID: "x"}, options...)
			return err
		},
		"Keys.Revoke": func(c *Client, options ...CallOption) error {
			return c.Keys.Revoke(t.Context(), RevokeKey{ID: "x"}, options...)
		},
		"Billing.Checkout": func(c *Client, options ...CallOption) error {
			_, err := c.Billing.Checkout(t.Context(), Checkout{AmountCents: 1000}, options...)
			return err
		},
		"Billing.Portal": func(c *Client, options ...CallOption) error {
			_, err := c.Billing.Portal(t.Context(), options...)
			return err
		},
		"Billing.SetAutoTopUp": func(c *Client, options ...CallOption) error {
			_, err := c.Billing.SetAutoTopUp(t.Context(), SetAutoTopUp{}, options...)
			return err
		},
		"Billing.SetDetails": func(c *Client, options ...CallOption) error {
			_, err := c.Billing.SetDetails(t.Context(), SetBillingDetails{}, options...)
			return err
		},
		"Billing.SetTimeZone": func(c *Client, options ...CallOption) error {
			_, err := c.Billing.SetTimeZone(t.Context(), SetTimeZone{TimeZone: "Asia/Tokyo"}, options...)
			return err
		},
		"Participants.Erase": func(c *Client, options ...CallOption) error {
			_, err := c.Participants.Erase(t.Context(), EraseParticipant{Participant: "ann"}, options...)
			return err
		},
		"Alerts.Set": func(c *Client, options ...CallOption) error {
			_, err := c.Alerts.Set(t.Context(), SetAlerts{}, options...)
			return err
		},
		"Budgets.Set": func(c *Client, options ...CallOption) error {
			_, err := c.Budgets.Set(t.Context(), SetBudget{ID: "x"}, options...)
			return err
		},
		"Budgets.Delete": func(c *Client, options ...CallOption) error {
			return c.Budgets.Delete(t.Context(), DeleteBudget{ID: "x"}, options...)
		},
		"Mail.Set": func(c *Client, options ...CallOption) error {
			_, err := c.Mail.Set(t.Context(), SetMailSettings{}, options...)
			return err
		},
		"Webhooks.Create": func(c *Client, options ...CallOption) error {
			_, err := c.Webhooks.Create(t.Context(), CreateWebhook{}, options...)
			return err
		},
		"Webhooks.Change": func(c *Client, options ...CallOption) error {
			_, err := c.Webhooks.Change(t.Context(), ChangeWebhook{ID: "x"}, options...)
			return err
		},
		"Webhooks.Delete": func(c *Client, options ...CallOption) error {
			return c.Webhooks.Delete(t.Context(), DeleteWebhook{ID: "x"}, options...)
		},
		"Webhooks.RotateSecret": func(c *Client, options ...CallOption) error {
			_, err := c.Webhooks.RotateSecret(t.Context(), RotateWebhookSecret{ID: "x"}, options...)
			return err
		},
		"Webhooks.Test": func(c *Client, options ...CallOption) error {
			_, err := c.Webhooks.Test(t.Context(), TestWebhook{ID: "x"}, options...)
			return err
		},
		"Webhooks.Resend": func(c *Client, options ...CallOption) error {
			_, err := c.Webhooks.Resend(t.Context(), ResendEvent{ID: "x"}, options...)
			return err
		},
		"Webhooks.ResendFailed": func(c *Client, options ...CallOption) error {
			_, err := c.Webhooks.ResendFailed(t.Context(), ResendFailed{ID: "x", Since: someTime}, options...)
			return err
		},
		"Webhooks.ResendSince": func(c *Client, options ...CallOption) error {
			_, err := c.Webhooks.ResendSince(t.Context(), ResendSince{ID: "x", Since: someTime}, options...)
			return err
		},
	}
	for name, write := range writes {
		t.Run(name, func(t *testing.T) {
			client, keys := keysOfREST(t)
			for _, options := range [][]CallOption{nil, nil, {IdempotencyKey("mine")}} {
				if err := write(client, options...); err == nil {
					t.Fatal("no error")
				}
			}
			all := keys()
			if len(all) != 15 || all[0] == "" || all[0] != all[4] || all[5] == all[0] || all[5] != all[9] ||
				all[10] != "mine" || all[14] != "mine" {
				t.Errorf("keys: %q", all)
			}
			for _, key := range []string{"", "a b", "a\n", "ü", strings.Repeat("k", 256)} {
				if err := write(client, IdempotencyKey(key)); !errors.Is(err, ErrInvalid) {
					t.Errorf("%q: %v", key, err)
				}
			}
			if len(keys()) != 15 {
				t.Error("a wrong key was sent")
			}
		})
	}
	client, keys := keysOfREST(t)
	_, _ = client.Keys.List(t.Context(), IdempotencyKey("mine"))
	_, _ = client.Usage.LookUp(t.Context(), LookUpUsage{}, IdempotencyKey("mine"))
	_, _ = client.SignUp(t.Context(), SignUp{}, IdempotencyKey("mine"))
	if strings.Join(keys(), "") != "" {
		t.Errorf("keys without a write: %q", keys())
	}
}

func TestAnswersOfREST(t *testing.T) {
	const billing = `{"tenant":{"id":"t_1","name":"You","email":"you@example.com","status":"active","has_card":true,
		"auto_top_up":{"enabled":false,"below":{"micros":0,"display":"$0.000000"},"amount":{"micros":0,"display":"$0.000000"}},
		"created_at":"2026-11-21T05:50:59.605Z"},"balance":{"micros":-20000009,"display":"-$20.000009"},"admitted":true,
		"recent":[{"kind":"top_up","amount":{"micros":1,"display":"$0.000001"},"capped":false,"reference":"pi_1","at":"2026-11-21T05:50:59.883Z"}],
		"of_a_later_version":{}}`
	client, _ := answering(t, 200, billing)
	account, err := client.Billing.Get(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if account.Tenant.Status != TenantActive || account.Balance.Micros.String() != account.Balance.Display {
		t.Errorf("account: %+v", account)
	}
	if at := account.Tenant.CreatedAt; !at.Equal(time.Date(2026, 11, 21, 5, 50, 59, 605_000_000, time.UTC)) {
		t.Errorf("created at %v", at)
	}
	if entry := account.Recent[0]; entry.Kind != LedgerTopUp || entry.Amount.Micros != 1 {
		t.Errorf("entry: %+v", entry)
	}
}

func TestKeysAreListedPageByPage(t *testing.T) {
	url := startREST(t, func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, map[string]string{
			"":    `{"keys":[{"id":"1"},{"id":"2"}],"next_cursor":"x&y"}`,
			"x&y": `{"keys":[{"id":"3"}]}`,
		}[r.URL.Query().Get("cursor")])
	})
	keys, err := newTestClient(t, Options{URL: url}).Keys.List(t.Context())
	if err != nil || len(keys) != 3 || keys[2].ID != "3" {
		t.Errorf("keys %v, error %v", keys, err)
	}
}

func TestListsOfRESTAreReadPageByPage(t *testing.T) {
	var lines []string
	url := startREST(t, func(w http.ResponseWriter, r *http.Request) {
		lines = append(lines, r.URL.RequestURI())
		fmt.Fprint(w, map[string]string{
			"":    `{"records":[{"id":"1"},{"id":"2"}],"next_cursor":"x&y"}`,
			"x&y": `{"records":[],"next_cursor":"z"}`,
			"z":   `{"records":[{"id":"3","egress_bytes":9007199254740991}],"of_a_later_version":{}}`,
		}[r.URL.Query().Get("cursor")])
	})
	client := newTestClient(t, Options{URL: url})
	records := client.Usage.Records(t.Context(), ListUsageRecords{Room: Ptr("a")})
	for range 2 {
		var ids []string
		for record, err := range records {
			if err != nil {
				t.Fatal(err)
			}
			ids = append(ids, record.ID)
		}
		if fmt.Sprint(ids) != "[1 2 3]" {
			t.Errorf("records %v", ids)
		}
	}
	if want := "/v1/usage/records?room=a /v1/usage/records?cursor=x%26y&room=a /v1/usage/records?cursor=z&room=a"; strings.Join(lines[3:], " ") != want {
		t.Errorf("asked %q", lines)
	}
	for range records {
		break
	}
	if len(lines) != 7 {
		t.Errorf("%d requests for one record", len(lines)-6)
	}
}

func TestStatementsAndErasures(t *testing.T) {
	client, _ := answering(t, 200, `{"jws":"a.b.c","statement":{"month":"2026-10","from":"2026-10-01T00:00:00.000Z",
		"payments":{"entries":[{"kind":"top_up","amount":{"micros":5,"display":"$0.000005"}}],"others":{"count":2,"sum":{"micros":7,"display":""}}},
		"usage":{"rooms":[{"room":"lobby","records":2,"egress_bytes":9232379236109516775}],"others":{"rooms":3,"records":4}}},
		"erasure":{"id":"er_1","state":"done","records":2,"finished_at":"2026-10-01T00:00:00.000Z"}}`)
	signed, err := client.Billing.Statement(t.Context(), GetStatement{Month: "2026-10"})
	if err != nil {
		t.Fatal(err)
	}
	statement := signed.Statement
	if signed.JWS != "a.b.c" || statement.From.Month() != time.October || statement.Payments.Entries[0].Kind != LedgerTopUp {
		t.Errorf("statement %+v", signed)
	}
	if others := statement.Payments.Others; others.Count != 2 || others.Sum.Micros != 7 || statement.Reversals.Others != nil {
		t.Errorf("others %+v", others)
	}
	if usage := statement.Usage; usage.Rooms[0].EgressBytes.String() != "9232379236109516775" || usage.Others.Rooms != 3 || usage.Others.Records != 4 {
		t.Errorf("usage %+v", usage)
	}
	erasure, err := client.Participants.Erasure(t.Context(), GetErasure{ID: "er_1"})
	if err != nil || erasure.State != ErasureDone || erasure.Records != 2 || erasure.FinishedAt.IsZero() {
		t.Errorf("erasure %+v, error %v", erasure, err)
	}
}

func TestStrangePagesOfREST(t *testing.T) {
	for _, text := range []string{`{}`, `[]`, `{"records":{}}`, `{"records":[5]}`, `{"records":[],"next_cursor":5}`} {
		client, all := answering(t, 200, text)
		only(t, drain(client.Usage.Records(t.Context(), ListUsageRecords{})), ErrInternal)
		if len(all()) != 1 {
			t.Errorf("%d requests", len(all()))
		}
	}
}

func TestSumsBeyond64Bits(t *testing.T) {
	client, _ := answering(t, 200, `{"from":"2026-01-01T00:00:00.000Z","rows":[{"day":"2026-01-02T00:00:00.000Z","records":2,"egress_bytes":1}],
		"sum":{"records":3,"egress_bytes":9232379236109516775,"ingress_bytes":0,"total":{"micros":5,"display":"$0.000005"}},"next_cursor":"x"}`)
	summary, err := client.Usage.Summary(t.Context(), SummarizeUsage{})
	if err != nil {
		t.Fatal(err)
	}
	if sum := summary.Sum; sum.EgressBytes.String() != "9232379236109516775" || sum.Records != 3 || sum.Total.Micros != 5 {
		t.Errorf("sum %+v", sum)
	}
	if row := summary.Rows[0]; row.Records != 2 || row.EgressBytes.Int64() != 1 || row.Day.Day() != 2 {
		t.Errorf("row %+v", row)
	}
	if text, err := json.Marshal(summary); err != nil || !strings.Contains(string(text), `"egress_bytes":9232379236109516775`) {
		t.Errorf("JSON %s, error %v", text, err)
	}
	for _, micros := range []string{"9223372036854775808", "1.5"} {
		client, _ := answering(t, 200, `{"balance":{"micros":`+micros+`}}`)
		_, err := client.Billing.Get(t.Context())
		only(t, err, ErrInternal)
	}
}

func TestMistakesInRequestsOfREST(t *testing.T) {
	client, all := answering(t, 200, "{}")
	for _, id := range []string{"", ".", "..", "\xff"} {
		_, first := client.Usage.Explain(t.Context(), ExplainUsage{ID: id})
		_, second := client.Keys.Rotate(t.Context(), RotateKey{ID: id})
		third := client.Keys.Revoke(t.Context(), RevokeKey{ID: id})
		_, fourth := client.Billing.Receipt(t.Context(), GetReceipt{ID: id})
		_, fifth := client.Participants.Erasure(t.Context(), GetErasure{ID: id})
		_, sixth := client.Webhooks.Get(t.Context(), GetWebhook{ID: id})
		_, seventh := client.Webhooks.Change(t.Context(), ChangeWebhook{ID: id})
		eighth := client.Webhooks.Delete(t.Context(), DeleteWebhook{ID: id})
		_, ninth := client.Webhooks.RotateSecret(t.Context(), RotateWebhookSecret{ID: id})
		_, tenth := client.Webhooks.Test(t.Context(), TestWebhook{ID: id})
		_, eleventh := client.Webhooks.ResendSince(t.Context(), ResendSince{ID: id, Since: someTime})
		twelfth := drain(client.Webhooks.Deliveries(t.Context(), ListDeliveries{ID: id}))
		for _, err := range []error{
			first, second, third, fourth, fifth, sixth, seventh, eighth, ninth, tenth, eleventh, twelfth,
		} {
			only(t, err, ErrInvalid)
			if failure := detailsOf(t, err); failure.Code != "" || failure.Fields[0].Field != "id" {
				t.Errorf("error %+v", failure)
			}
		}
	}
	late := time.Date(10_000, 1, 1, 0, 0, 0, 0, time.UTC)
	_, summary := client.Usage.Summary(t.Context(), SummarizeUsage{From: late})
	ledger := drain(client.Billing.Ledger(t.Context(), ListLedger{From: late, To: late}))
	audit := drain(client.Audit.List(t.Context(), ListAudit{From: late}))
	_, since := client.Webhooks.ResendSince(t.Context(), ResendSince{ID: "wh_1", Since: late})
	// Without a time, all events would be sent again.
	_, never := client.Webhooks.ResendSince(t.Context(), ResendSince{ID: "wh_1"})
	for _, err := range []error{summary, ledger, audit, since, never} {
		only(t, err, ErrInvalid)
	}
	if failure := detailsOf(t, ledger); len(failure.Fields) != 2 || failure.Fields[0].Field != "from" {
		t.Errorf("error %+v", failure)
	}
	if len(all()) != 0 {
		t.Errorf("asked %q", all())
	}
}

func TestLostAnswers(t *testing.T) {
	var requests atomic.Int32
	url := startREST(t, func(w http.ResponseWriter, _ *http.Request) {
		requests.Add(1)
		connection, _, err := w.(http.Hijacker).Hijack()
		if err != nil {
			return
		}
		fmt.Fprint(connection, "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{")
		connection.Close()
	})
	client := newTestClient(t, Options{URL: url})
	_, err := client.SignUp(t.Context(), SignUp{Email: "you@example.com", Name: "You"})
	only(t, err, ErrUnavailable)
	if requests.Load() != 1 {
		t.Errorf("%d requests to sign up", requests.Load())
	}
	_, err = client.Billing.Get(t.Context())
	only(t, err, ErrUnavailable)
	if requests.Load() != 6 {
		t.Errorf("%d requests to read the balance", requests.Load()-1)
	}
	_, err = client.Keys.Create(t.Context(), CreateKey{Name: "x"})
	only(t, err, ErrUnavailable)
	if requests.Load() != 11 {
		t.Errorf("%d requests to create a key", requests.Load()-6)
	}
}

// TestConnectionsOfSecrets lets a proxy answer twice. What net/http then logs has no key in it.
func TestConnectionsOfSecrets(t *testing.T) {
	var closes []bool
	url := startREST(t, func(w http.ResponseWriter, r *http.Request) {
		closes = append(closes, r.Close)
		fmt.Fprint(w, "{}")
	})
	client := newTestClient(t, Options{URL: url})
	_, first := client.Keys.Create(t.Context(), CreateKey{})
	_, second := client.Keys.Rotate(t.Context(), RotateKey{ID: "x"})
	_, third := client.SignUp(t.Context(), SignUp{})
	_, fourth := client.Webhooks.Create(t.Context(), CreateWebhook{})
	_, fifth := client.Webhooks.RotateSecret(t.Context(), RotateWebhookSecret{ID: "x"})
	_, sixth := client.Billing.Get(t.Context())
	if err := errors.Join(first, second, third, fourth, fifth, sixth); err != nil {
		t.Fatal(err)
	}
	if fmt.Sprint(closes) != "[true true true true true false]" {
		t.Errorf("connections that are closed: %v", closes)
	}
}

func TestRetryAfterOfREST(t *testing.T) {
	var requests atomic.Int32
	url := startREST(t, func(w http.ResponseWriter, _ *http.Request) {
		if requests.Add(1) == 1 {
			w.Header().Set("Retry-After", "1")
			w.WriteHeader(503)
			return
		}
		fmt.Fprint(w, "{}")
	})
	begun := time.Now()
	if _, err := newTestClient(t, Options{URL: url}).Rates.Get(t.Context()); err != nil {
		t.Fatal(err)
	}
	if waited := time.Since(begun); waited < time.Second {
		t.Errorf("waited only %v", waited)
	}
}

func TestRedirectsAreNotFollowed(t *testing.T) {
	var followed atomic.Bool
	elsewhere := startREST(t, func(http.ResponseWriter, *http.Request) { followed.Store(true) })
	redirect := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, elsewhere+r.URL.Path, http.StatusTemporaryRedirect)
	})
	client := newTestClient(t, Options{URL: startREST(t, redirect), ControlURL: startPlainHTTP2(t, redirect), Tenant: testTenant, Retries: Ptr(0)})
	_, err := client.Billing.Get(t.Context())
	if failure := detailsOf(t, err); failure.Code != "307" {
		t.Errorf("error %v", err)
	}
	if _, err := client.Rooms.Get(t.Context(), GetRoom{Room: "x"}); err == nil {
		t.Error("no error of the control plane")
	}
	if followed.Load() {
		t.Error("the redirect was followed")
	}
}

func TestStrangeAnswersOfREST(t *testing.T) {
	for name, text := range map[string]string{
		"HTML":         "<!doctype html><title>Welcome</title>",
		"nothing":      "",
		"another type": `{"tenant":5}`,
		"5 MB":         strings.Repeat("x", 5<<20),
		"too much":     strings.Repeat("x", answerBytesMax+1),
	} {
		t.Run(name, func(t *testing.T) {
			client, _ := answering(t, 200, text)
			_, err := client.Billing.Get(t.Context())
			only(t, err, ErrInternal)
			if len(err.Error()) > 500 {
				t.Errorf("a message of %d bytes", len(err.Error()))
			}
		})
	}
	client, _ := answering(t, 502, strings.Repeat("<p>", 2<<20))
	_, err := client.Keys.Create(t.Context(), CreateKey{})
	only(t, err, ErrUnavailable)
}

func TestMicros(t *testing.T) {
	for micros, want := range map[Micros]string{
		0:                    "$0.000000",
		-9:                   "-$0.000009",
		1_234_567:            "$1.234567",
		-20_000_000:          "-$20.000000",
		-9223372036854775808: "-$9223372036854.775808",
	} {
		if micros.String() != want {
			t.Errorf("%d is %s", int64(micros), micros)
		}
	}
}

package boxoffice

import (
	"errors"
	"fmt"
	"io"
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
		}, false},
		{"POST /v1/billing/portal", "", func(c *Client) error { _, err := c.Billing.Portal(t.Context()); return err }, false},
		{"PUT /v1/billing/auto-top-up", `{"enabled":true,"below_cents":0,"amount_cents":5000}`, func(c *Client) error {
			request := SetAutoTopUp{Enabled: true, BelowCents: Ptr[int64](0), AmountCents: Ptr[int64](5000)}
			_, err := c.Billing.SetAutoTopUp(t.Context(), request)
			return err
		}, true},
		{"GET /v1/keys", "", func(c *Client) error { _, err := c.Keys.List(t.Context()); return err }, true},
		{"POST /v1/keys", `{"name":"relay","kind":"relay"}`, func(c *Client) error {
			_, err := c.Keys.Create(t.Context(), CreateKey{Name: "relay", Kind: KeyRelay})
			return err
		}, false},
		{"POST /v1/keys/0f7e/rotate", `{"overlap_seconds":0}`, func(c *Client) error {
			_, err := c.Keys.Rotate(t.Context(), RotateKey{ID: "0f7e", OverlapSeconds: Ptr[int64](0)})
			return err
		}, false},
		{"POST /v1/keys/0f7e/rotate", `{}`, func(c *Client) error {
			_, err := c.Keys.Rotate(t.Context(), RotateKey{ID: "0f7e"})
			return err
		}, false},
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
		{"POST /v1/signup", `{"email":"you@example.com","name":"You"}`, func(c *Client) error {
			_, err := c.SignUp(t.Context(), SignUp{Email: "you@example.com", Name: "You"})
			return err
		}, false},
	}
	for _, each := range cases {
		t.Run(each.line, func(t *testing.T) {
			client, all := answering(t, 200, "{}")
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
	_, err := client.Keys.Create(t.Context(), CreateKey{Name: "x"})
	only(t, err, ErrUnavailable)
	if requests.Load() != 1 {
		t.Errorf("%d requests to create a key", requests.Load())
	}
	_, err = client.Billing.Get(t.Context())
	only(t, err, ErrUnavailable)
	if requests.Load() != 6 {
		t.Errorf("%d requests to read the balance", requests.Load()-1)
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
	_, fourth := client.Billing.Get(t.Context())
	if err := errors.Join(first, second, third, fourth); err != nil {
		t.Fatal(err)
	}
	if fmt.Sprint(closes) != "[true true true false]" {
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
		"too much":     strings.Repeat("x", maxAnswer+1),
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

package boxoffice

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"strings"
	"testing"
	"time"
)

func TestAnswersAboutAlerts(t *testing.T) {
	client, _ := answering(t, 200, `{"thresholds":[{"kind":"balance","below_micros":0,"raised_at":null},
		{"kind":"runway","below_hours":24,"raised_at":"2026-11-22T20:41:07.118Z"}],
		"burn":[{"window":"1h","runway_hours":null,"empty_at":null},{"window":"24h","runway_hours":0,"empty_at":null},
		{"window":"7d","runway_hours":38.76,"empty_at":"2026-11-24T11:27:13.402Z"}]}`)
	thresholds, err := client.Alerts.Get(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	first, second := thresholds[0], thresholds[1]
	if first.Kind != ThresholdBalance || *first.BelowMicros != 0 || !first.RaisedAt.IsZero() {
		t.Errorf("threshold %+v", first)
	}
	if second.BelowMicros != nil || second.BelowHours != 24 || second.RaisedAt.Second() != 7 {
		t.Errorf("threshold %+v", second)
	}
	// What was read can be set.
	again, err := json.Marshal(SetAlerts{Thresholds: []Threshold{first.Threshold, second.Threshold}})
	if want := `{"thresholds":[{"kind":"balance","below_micros":0},{"kind":"runway","below_hours":24}]}`; err != nil || string(again) != want {
		t.Errorf("JSON %s, error %v", again, err)
	}
	runway, err := client.Billing.Runway(t.Context(), GetRunway{})
	if err != nil {
		t.Fatal(err)
	}
	// Nothing used is not nothing left.
	if hours := runway.Burn[0].RunwayHours; hours != nil {
		t.Errorf("%v hours", *hours)
	}
	if hours := runway.Burn[1].RunwayHours; hours == nil || *hours != 0 {
		t.Errorf("hours: %v", hours)
	}
	if last := runway.Burn[2]; *last.RunwayHours != 38.76 || last.EmptyAt.IsZero() {
		t.Errorf("burn %+v", last)
	}
}

func TestAnswersAboutWebhooks(t *testing.T) {
	const webhook = `{"id":"wh_1","types":["a_later_type"],"state":"paused","paused_by":"gone","delivered_seq":9223372036854775807}`
	client, _ := answering(t, 200, `{"webhook":`+webhook+`,"secret":"whsec_1","old_secret_retires":"2026-11-22T20:41:07.118Z",
		"delivery":{"kind":"resend","seq":42,"delivered":false,"status":500,"answer":"busy","latency_ms":7},
		"entries":[{"actor":{"kind":"system","id":"payments"},"action":"x","before":{"a":1.50},"after":{"b":null}},{"action":"y"}]}`)
	rotated, err := client.Webhooks.RotateSecret(t.Context(), RotateWebhookSecret{ID: "wh_1"})
	if err != nil {
		t.Fatal(err)
	}
	if rotated.Secret.Reveal() != "whsec_1" || rotated.OldSecretRetires.IsZero() || rotated.Webhook.PausedBy != PausedByGone {
		t.Errorf("rotated %+v", rotated)
	}
	if back, err := client.Webhooks.ResendSince(t.Context(), ResendSince{ID: "wh_1", Since: someTime}); err != nil ||
		back.State != WebhookPaused || back.DeliveredSeq != 9223372036854775807 || back.Types[0] != "a_later_type" {
		t.Errorf("webhook %+v, error %v", back, err)
	}
	// An endpoint that refuses is no error of the call.
	if delivery, err := client.Webhooks.Resend(t.Context(), ResendEvent{ID: "wh_1", Seq: 42}); err != nil ||
		delivery.Kind != DeliveryResend || delivery.Delivered || delivery.Status != 500 || delivery.Seq != 42 {
		t.Errorf("delivery %+v, error %v", delivery, err)
	}
	for entry, err := range client.Audit.List(t.Context(), ListAudit{}) {
		if err != nil {
			t.Fatal(err)
		}
		if text := fmt.Sprintf("%s %s", entry.Before, entry.After); entry.Action == "x" && text != `{"a":1.50} {"b":null}` {
			t.Errorf("changes: %s", text)
		}
		if entry.Action == "y" && (entry.Before != nil || entry.After != nil) {
			t.Errorf("entry %+v", entry)
		}
	}
}

// TestPatience covers answers that come after the usual limit of an attempt, because the service waits itself.
func TestPatience(t *testing.T) {
	var left []time.Duration
	client := newTestClient(t, Options{
		URL: nowhere,
		WrapTransport: func(http.RoundTripper) http.RoundTripper {
			return roundTripper(func(r *http.Request) (*http.Response, error) {
				deadline, _ := r.Context().Deadline()
				left = append(left, time.Until(deadline).Round(time.Second))
				return nil, context.Canceled
			})
		},
		Retries: Ptr(0),
	})
	ctx := t.Context()
	_, _ = client.Webhooks.PullEvents(ctx, PullEvents{})
	_, _ = client.Webhooks.PullEvents(ctx, PullEvents{WaitSeconds: 20})
	_, _ = client.Webhooks.Test(ctx, TestWebhook{ID: "wh_1"})
	_, _ = client.Webhooks.Resend(ctx, ResendEvent{ID: "wh_1", Seq: 1})
	_, _ = client.Webhooks.Resend(ctx, ResendEvent{ID: "wh_1", Seq: 1}, AttemptTimeout(3*time.Second))
	if fmt.Sprint(left) != "[10s 30s 20s 20s 3s]" {
		t.Errorf("limits of attempts: %v", left)
	}
}

// follower is a client whose service gives these answers in turn, and then a status that ends it; and what it is asked.
func follower(t *testing.T, answers ...string) (*Client, *[]string) {
	t.Helper()
	var asked []string
	url := startREST(t, func(w http.ResponseWriter, r *http.Request) {
		asked = append(asked, r.URL.RawQuery)
		switch {
		case len(asked) > len(answers):
			w.WriteHeader(http.StatusBadRequest)
		case answers[len(asked)-1] == "":
			w.WriteHeader(http.StatusServiceUnavailable)
		default:
			fmt.Fprint(w, answers[len(asked)-1])
		}
	})
	return newTestClient(t, Options{URL: url, Retries: Ptr(0)}), &asked
}

func TestFollowEventsGoesOn(t *testing.T) {
	client, asked := follower(t,
		`{"events":[{"seq":5,"data":{}},{"seq":7}],"after":8,"more":true}`, "", "",
		`{"events":[],"after":9,"more":false}`,
		`{"events":[{"seq":12}],"after":12,"more":false}`, "")
	var failures []int
	client.rest.calls.wait = func(count int, _ time.Duration) time.Duration {
		failures = append(failures, count)
		return 0
	}
	var seen []uint64
	var end error
	for event, err := range client.Webhooks.FollowEvents(t.Context(), FollowEvents{Types: []EventType{"a", "b"}}) {
		if err != nil {
			end = err
			continue
		}
		seen = append(seen, event.Seq)
	}
	only(t, end, ErrInvalid)
	if fmt.Sprint(seen) != "[5 7 12]" {
		t.Errorf("seen: %v", seen)
	}
	const rest = "types=a%2Cb&wait_seconds=20"
	want := []string{rest, "after=8&" + rest, "after=8&" + rest, "after=8&" + rest, "after=9&" + rest, "after=12&" + rest, "after=12&" + rest}
	if strings.Join(*asked, " ") != strings.Join(want, " ") {
		t.Errorf("asked: %q", *asked)
	}
	// Each answer ends a series of failures.
	if fmt.Sprint(failures) != "[0 1 0]" {
		t.Errorf("failures in a row: %v", failures)
	}
}

func TestFollowEventsEnds(t *testing.T) {
	const two = `{"events":[{"seq":1},{"seq":2}],"after":2}`
	client, asked := follower(t, two, two)
	for event, err := range client.Webhooks.FollowEvents(t.Context(), FollowEvents{After: Ptr[uint64](0)}) {
		if err != nil || event.Seq != 1 {
			t.Errorf("event %v, error %v", event, err)
		}
		break
	}
	if fmt.Sprint(*asked) != "[after=0&wait_seconds=20]" {
		t.Errorf("asked: %q", *asked)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var end error
	for event, err := range client.Webhooks.FollowEvents(ctx, FollowEvents{}) {
		if event != nil && event.Seq == 2 {
			cancel()
		}
		end = err
	}
	if !errors.Is(end, context.Canceled) {
		t.Errorf("error %v", end)
	}
}

// signed are the headers of a genuine request.
func signed(secret string, at time.Time, body string) http.Header {
	key, _ := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, "whsec_"))
	mac := hmac.New(sha256.New, key)
	fmt.Fprintf(mac, "evt_1.%d.%s", at.Unix(), body)
	header := http.Header{}
	header.Set("webhook-id", "evt_1")
	header.Set("webhook-timestamp", fmt.Sprint(at.Unix()))
	header.Set("webhook-signature", "v1a,AAAA v1,"+base64.StdEncoding.EncodeToString(mac.Sum(nil)))
	return header
}

// TestVerifyWebhook covers the clock and the errors. docs/vectors/webhooks.json has the rest.
func TestVerifyWebhook(t *testing.T) {
	const body = `{"id":"evt_1","seq":0,"type":"webhook_test","timestamp":"2026-11-22T18:00:00.000Z","data":{"a":9007199254740993}}`
	secret := "whsec_" + base64.StdEncoding.EncodeToString([]byte(testSecret))
	other := "whsec_" + base64.StdEncoding.EncodeToString([]byte("other"))
	now := time.Now()
	event, err := VerifyWebhook(signed(secret, now, body), []byte(body), other, secret)
	if err != nil {
		t.Fatal(err)
	}
	if event.ID != "evt_1" || event.Type != EventWebhookTest || string(event.Data) != `{"a":9007199254740993}` {
		t.Errorf("event %+v", event)
	}
	refused := func(want error, header http.Header, secrets ...string) {
		t.Helper()
		event, err := VerifyWebhook(header, []byte(body), secrets...)
		if event != nil || !errors.Is(err, want) {
			t.Errorf("event %v, error %v", event, err)
		}
		for _, secret := range secrets {
			if strings.Contains(err.Error(), strings.TrimPrefix(secret, "whsec_")) {
				t.Errorf("the secret is in %v", err)
			}
		}
	}
	refused(WebhookStale, signed(secret, now.Add(-6*time.Minute), body), secret)
	refused(WebhookStale, signed(secret, now.Add(6*time.Minute), body), secret)
	refused(WebhookBadSignature, signed(secret, now, body+" "), secret)
	refused(WebhookMissingHeader, http.Header{}, secret)
	twice := signed(secret, now, body)
	twice.Add("webhook-id", "evt_2")
	refused(WebhookMissingHeader, twice, secret)
	refused(ErrInvalid, signed(secret, now, body))
	refused(ErrInvalid, signed(secret, now, body), secret, testSecret)
	if text := WebhookStale.Error(); text != "boxoffice: webhook-timestamp is more than 5 minutes from now (STALE)" {
		t.Error(text)
	}
}

func TestVerifyWebhookEvents(t *testing.T) {
	const one = `{"id":"evt_%d","seq":%d,"type":"webhook_test","timestamp":"2026-11-22T18:00:00.000Z","data":{}}`
	first, second := fmt.Sprintf(one, 1, 0), fmt.Sprintf(one, 2, 0)
	secret := "whsec_" + base64.StdEncoding.EncodeToString([]byte(testSecret))
	read := func(body string) ([]string, error) {
		events, err := VerifyWebhookEvents(signed(secret, time.Now(), body), []byte(body), secret)
		var ids []string
		for _, event := range events {
			ids = append(ids, event.ID)
		}
		return ids, err
	}
	for body, want := range map[string][]string{
		first:                        {"evt_1"},
		`{"events":[` + first + `]}`: {"evt_1"},
		`{"events":[` + first + `,` + second + `]}`: {"evt_1", "evt_2"},
	} {
		if ids, err := read(body); err != nil || !reflect.DeepEqual(ids, want) {
			t.Errorf("%s: %v, %v", body, ids, err)
		}
	}
	for _, body := range []string{`{"events":[]}`, `{"events":[{}]}`, `{"events":[` + first + `,{}]}`, `[` + first + `]`, `{}`, `x`} {
		if ids, err := read(body); !errors.Is(err, WebhookBadBody) {
			t.Errorf("%s: %v, %v", body, ids, err)
		}
		if err := VerifyWebhookSignature(signed(secret, time.Now(), body), []byte(body), secret); err != nil {
			t.Errorf("%s: %v", body, err)
		}
	}
	if err := VerifyWebhookSignature(signed(secret, time.Now(), first), []byte(second), secret); !errors.Is(err, WebhookBadSignature) {
		t.Error(err)
	}
	list := `{"events":[` + first + `]}`
	if _, err := VerifyWebhook(signed(secret, time.Now(), list), []byte(list), secret); !errors.Is(err, WebhookBadBody) ||
		!strings.Contains(err.Error(), "VerifyWebhookEvents") {
		t.Error(err)
	}
}

func TestDataOfEventsHasAType(t *testing.T) {
	event := func(kind EventType, data string) *WebhookEvent {
		return &WebhookEvent{ID: "evt_1", Type: kind, Data: json.RawMessage(data)}
	}
	low := `{"balance":{"micros":-5,"display":"-$0.000005"},"below":{"micros":7,"display":"$0.000007"},"more":1}`
	data, err := event(EventBalanceLow, low).ParseData()
	want := &BalanceAlertData{Balance: Amount{-5, "-$0.000005"}, Below: Amount{7, "$0.000007"}}
	if err != nil || !reflect.DeepEqual(data, want) {
		t.Errorf("got %+v, %v", data, err)
	}
	data, err = event(EventParticipantLeft, `{"role":"host","tier":"hd","left_at":"2026-11-22T18:00:00.000Z"}`).ParseData()
	left, ok := data.(*ParticipantData)
	if err != nil || !ok || left.Role != "host" || left.LeftAt.IsZero() || !left.LastSeenAt.IsZero() {
		t.Errorf("got %+v, %v", data, err)
	}
	if data, err = event("of_a_later_version", `{}`).ParseData(); data != nil || err != nil {
		t.Errorf("got %+v, %v", data, err)
	}
	if _, err = event(EventBalanceLow, `{"balance":"5"}`).ParseData(); err == nil {
		t.Error("a text is no amount")
	}
}

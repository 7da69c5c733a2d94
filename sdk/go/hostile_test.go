package boxoffice

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"connectrpc.com/connect"

	controlv1 "boxoffice.example/boxoffice/sdk/go/internal/gen/boxoffice/control/v1"
)

func TestOptions(t *testing.T) {
	for _, options := range []Options{
		{},
		{URL: "boxoffice.example"},
		{URL: "ftp://boxoffice.example"},
		{URL: "https://"},
		{URL: "http://a b"},
		{URL: nowhere + "?"},
		{URL: nowhere + "/?tenant=x"},
		{URL: nowhere + "#"},
		{URL: nowhere + "/#x"},
		{URL: "http://ann:" + testSecret + "@127.0.0.1:1"},
		{URL: nowhere, ControlURL: nowhere + "?x"},
		{URL: nowhere, ControlURL: nowhere + "#x"},
		{URL: nowhere, ControlURL: "localhost:8081"},
		{URL: nowhere, Retries: Ptr(-1)},
		{URL: nowhere, Timeout: -1},
		{URL: nowhere, APIKey: NewSecret(testKey + "\n")},
		{URL: nowhere, APIKey: NewSecret(testKey + " ")},
		{URL: nowhere, APIKey: NewSecret(testKey + "é")},
	} {
		client, err := New(options)
		only(t, err, ErrInvalid)
		if client != nil || detailsOf(t, err).Code != "" || strings.Contains(err.Error(), testSecret) {
			t.Errorf("client %v, error %v", client, err)
		}
	}
}

func TestWhatIsMissingForACall(t *testing.T) {
	client, err := New(Options{URL: nowhere})
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	_, err = client.Billing.Get(t.Context())
	only(t, err, ErrInvalid)
	_, err = client.Rooms.Get(t.Context(), GetRoom{Room: "x"})
	only(t, err, ErrInvalid)
	if names := fmt.Sprint(detailsOf(t, err).Fields); !strings.Contains(names, "ControlURL") || !strings.Contains(names, "APIKey") {
		t.Errorf("fields: %s", names)
	}
}

func TestMistakesInRequests(t *testing.T) {
	client, s := clientOf(t, Options{}, giveRoom)
	invalidIn := func(field string, err error) {
		t.Helper()
		only(t, err, ErrInvalid)
		failure := detailsOf(t, err)
		if failure.Code != "" || len(failure.Fields) != 1 || failure.Fields[0].Field != field {
			t.Errorf("details: %+v", failure)
		}
	}
	ctx := t.Context()
	for _, err := range client.Rooms.List(ctx, ListRooms{State: "open"}) {
		invalidIn("state", err)
	}
	_, err := client.Rooms.Create(ctx, CreateRoom{Room: "x", Policy: &RoomPolicy{Mode: "party"}})
	invalidIn("policy.mode", err)
	_, err = client.Rooms.Create(ctx, CreateRoom{Room: "\xff"})
	invalidIn("", err)
	_, err = client.Rooms.UpdatePolicy(ctx, UpdateRoomPolicy{Room: "x"})
	invalidIn("policy", err)
	_, err = client.Moderation.Ban(ctx, BanSubject{Username: "ann", CIDR: "192.0.2.0/24"})
	invalidIn("", err)
	_, err = client.Moderation.ForceMute(ctx, ForceMute{Room: "x", Username: "ann", Tracks: []TrackKind{TrackAudio, "smell"}})
	invalidIn("tracks[1]", err)
	_, err = client.Tokens.Mint(ctx, MintClientToken{Lifetime: time.Minute + time.Nanosecond})
	invalidIn("lifetime", err)
	_, err = client.Watchdogs.Create(ctx, CreateWatchdog{Room: "x", EmptyFor: time.Minute, UnusedFor: time.Hour})
	invalidIn("watchdog", err)
	_, err = client.Watchdogs.Update(ctx, UpdateWatchdog{ID: "x"})
	invalidIn("watchdog", err)
	_, err = client.DeviceCredentials.Create(ctx, CreateDeviceCredential{ExpireTime: time.Date(10_000, 1, 1, 0, 0, 0, 0, time.UTC)})
	invalidIn("expire_time", err)
	if sent := len(s.received()); sent != 0 {
		t.Errorf("%d requests were sent", sent)
	}
}

func TestMasks(t *testing.T) {
	client, s := clientOf(t, Options{}, refusal{code: connect.CodeNotFound}.step)
	ctx := t.Context()
	_, _ = client.Rooms.UpdatePolicy(ctx, UpdateRoomPolicy{Policy: RoomPolicyChanges{
		Locked: Ptr(false), MaxParticipants: Ptr[int32](0), HostCapabilities: []string{},
	}})
	_, _ = client.Watchdogs.Update(ctx, UpdateWatchdog{ID: "wd_1", EmptyFor: time.Minute, WarnBefore: Ptr(time.Duration(0))})
	_, _ = client.Watchdogs.Update(ctx, UpdateWatchdog{ID: "wd_1", Action: WatchdogNotify})
	policy := s.received()[0].message.(*controlv1.UpdateRoomPolicyRequest)
	if paths := fmt.Sprint(policy.GetUpdateMask().GetPaths()); paths != "[max_participants locked host_capabilities]" {
		t.Errorf("mask of the policy: %s", paths)
	}
	timing := s.received()[1].message.(*controlv1.UpdateWatchdogRequest)
	if paths := fmt.Sprint(timing.GetUpdateMask().GetPaths()); paths != "[empty_for warn_before]" {
		t.Errorf("mask of the watchdog: %s", paths)
	}
	if watchdog := timing.GetWatchdog(); watchdog.GetEmptyFor().AsDuration() != time.Minute || watchdog.GetWarnBefore() == nil {
		t.Errorf("watchdog: %v", watchdog)
	}
	action := s.received()[2].message.(*controlv1.UpdateWatchdogRequest)
	if paths := fmt.Sprint(action.GetUpdateMask().GetPaths()); paths != "[action]" {
		t.Errorf("mask of the action: %s", paths)
	}
}

// bothOf calls REST and the control plane once each.
func bothOf(t *testing.T, client *Client) []error {
	t.Helper()
	_, rest := client.Billing.Get(t.Context())
	_, control := client.Rooms.Create(t.Context(), CreateRoom{Room: "x"})
	return []error{rest, control}
}

func TestWrongAddress(t *testing.T) {
	for _, address := range []string{nowhere, "http://does-not-exist.invalid"} {
		client := newTestClient(t, Options{URL: address, ControlURL: address, Tenant: testTenant, Retries: Ptr(1)})
		for _, err := range bothOf(t, client) {
			only(t, err, ErrUnavailable)
			if failure := detailsOf(t, err); failure.Code != "UNAVAILABLE" || failure.RequestID != "" {
				t.Errorf("details: %+v", failure)
			}
		}
	}
}

func TestTLSAgainstPlain(t *testing.T) {
	plain := startPlainHTTP2(t, http.NotFoundHandler())
	secure := strings.Replace(plain, "http://", "https://", 1)
	client := newTestClient(t, Options{URL: secure, ControlURL: secure, Tenant: testTenant, Retries: Ptr(0)})
	for _, err := range bothOf(t, client) {
		only(t, err, ErrUnavailable)
	}
}

func TestPlainAgainstTLS(t *testing.T) {
	server := httptest.NewUnstartedServer(http.NotFoundHandler())
	server.EnableHTTP2 = true
	server.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)
	server.StartTLS()
	t.Cleanup(server.Close)
	plain := strings.Replace(server.URL, "https://", "http://", 1)
	client := newTestClient(t, Options{URL: plain, ControlURL: plain, Tenant: testTenant, Retries: Ptr(0)})
	errs := bothOf(t, client)
	// To plain HTTP, TLS servers of Go answer 400.
	only(t, errs[0], ErrInvalid)
	only(t, errs[1], ErrUnavailable)

	// Without its certificate authority, the same server is not trusted.
	strange := newTestClient(t, Options{URL: server.URL, ControlURL: server.URL, Tenant: testTenant, Retries: Ptr(0)})
	for _, err := range bothOf(t, strange) {
		only(t, err, ErrUnavailable)
	}
	roots := x509.NewCertPool()
	roots.AddCert(server.Certificate())
	trusted := newTestClient(t, Options{
		URL: server.URL, ControlURL: server.URL, Tenant: testTenant, Retries: Ptr(0), TLS: &tls.Config{RootCAs: roots},
	})
	_, err := trusted.Billing.Get(t.Context())
	only(t, err, ErrNotFound)
}

func TestHTMLFromAProxy(t *testing.T) {
	for status, want := range map[int]error{200: ErrInternal, 502: ErrUnavailable, 503: ErrUnavailable} {
		t.Run(fmt.Sprint(status), func(t *testing.T) {
			address := startPlainHTTP2(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "text/html")
				w.WriteHeader(status)
				fmt.Fprint(w, "<html>", strings.Repeat("busy", 100_000))
			}))
			client := newTestClient(t, Options{URL: address, ControlURL: address, Tenant: testTenant, Retries: Ptr(0)})
			for _, err := range bothOf(t, client) {
				only(t, err, want)
				if len(err.Error()) > 500 {
					t.Errorf("a message of %d bytes", len(err.Error()))
				}
			}
		})
	}
}

func TestLargeMessages(t *testing.T) {
	client, s := clientOf(t, Options{Timeout: 2 * time.Minute, AttemptTimeout: time.Minute}, func() (connect.AnyResponse, error) {
		return connect.NewResponse(&controlv1.GetRoomResponse{Room: &controlv1.Room{Metadata: strings.Repeat("x", 5<<20)}}), nil
	})
	room, err := client.Rooms.Get(t.Context(), GetRoom{Room: strings.Repeat("y", 5<<20)})
	if err != nil || len(room.Metadata) != 5<<20 || len(s.texts("room")[0]) != 5<<20 {
		t.Errorf("error %v", err)
	}
}

// TestServiceThatHangsUp covers a service that is killed in the middle of a call.
func TestServiceThatHangsUp(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			connection, err := listener.Accept()
			if err != nil {
				return
			}
			_, _ = io.ReadFull(connection, make([]byte, 64))
			connection.Close()
		}
	}()
	t.Cleanup(func() {
		listener.Close()
		<-done
	})
	address := "http://" + listener.Addr().String()
	client := newTestClient(t, Options{URL: address, ControlURL: address, Tenant: testTenant, Retries: Ptr(1)})
	for _, err := range bothOf(t, client) {
		only(t, err, ErrUnavailable)
	}
}

func TestKeyIsNotShown(t *testing.T) {
	options := Options{URL: nowhere, ControlURL: nowhere, APIKey: NewSecret(testKey), Tenant: testTenant, Retries: Ptr(0)}
	client := newTestClient(t, options)
	refused, _ := clientOf(t, Options{Retries: Ptr(0)}, refusal{code: connect.CodeUnauthenticated, reason: ReasonInvalidAPIKey}.step)
	var out bytes.Buffer
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%d", "%x"} {
		fmt.Fprintf(&out, verb+verb+verb+verb+"\n", options, &options, client, struct{ Options Options }{options})
	}
	logger := slog.New(slog.NewJSONHandler(&out, nil))
	logger.Info("x", "options", options, "client", client)
	slog.New(slog.NewTextHandler(&out, nil)).Info("x", "options", options, "client", client)
	for _, value := range []any{options, client} {
		text, err := json.Marshal(value)
		fmt.Fprintln(&out, string(text), err)
	}
	for _, err := range append(bothOf(t, client), bothOf(t, refused)...) {
		fmt.Fprintf(&out, "%v %+v %#v\n", err, err, err)
		for cause := err; cause != nil; cause = errors.Unwrap(cause) {
			fmt.Fprintf(&out, "%+v\n", cause)
		}
		logger.Info("x", "error", err)
	}
	// In hexadecimal, too.
	for _, shown := range []string{testSecret, fmt.Sprintf("%x", testSecret)} {
		if strings.Contains(out.String(), shown) {
			t.Errorf("the key is in:\n%s", out.String())
		}
	}
	if !strings.Contains(out.String(), testTenant) {
		t.Errorf("the tenant is missing in:\n%s", out.String())
	}
}

func TestWrapTransport(t *testing.T) {
	var paths []string
	wrap := func(next http.RoundTripper) http.RoundTripper {
		return roundTripper(func(r *http.Request) (*http.Response, error) {
			paths = append(paths, r.URL.Path)
			return next.RoundTrip(r)
		})
	}
	client := newTestClient(t, Options{Tenant: testTenant, Retries: Ptr(0), WrapTransport: wrap})
	for _, err := range bothOf(t, client) {
		only(t, err, ErrUnavailable)
	}
	if got := fmt.Sprint(paths); got != "[/v1/billing /boxoffice.control.v1.RoomService/CreateRoom]" {
		t.Errorf("paths: %s", got)
	}
}

type roundTripper func(*http.Request) (*http.Response, error)

func (r roundTripper) RoundTrip(request *http.Request) (*http.Response, error) {
	return r(request)
}

// TestEveryMethod calls each method of the control plane, and looks at what is sent.
func TestEveryMethod(t *testing.T) {
	client, s := clientOf(t, Options{}, refusal{code: connect.CodeNotFound, reason: ReasonNotFound}.step)
	s.stream = func(context.Context, received, func(*controlv1.WatchEventsResponse)) error {
		return refusal{code: connect.CodeNotFound, reason: ReasonNotFound}.err()
	}
	ctx := t.Context()
	second := func(_ any, err error) error { return err }
	var changes = map[string]error{
		"CreateRoom":             second(client.Rooms.Create(ctx, CreateRoom{})),
		"UpdateRoomPolicy":       second(client.Rooms.UpdatePolicy(ctx, UpdateRoomPolicy{Policy: RoomPolicyChanges{Locked: Ptr(true)}})),
		"EndRoom":                second(client.Rooms.End(ctx, EndRoom{})),
		"KickParticipant":        second(client.Moderation.Kick(ctx, KickParticipant{})),
		"BanSubject":             second(client.Moderation.Ban(ctx, BanSubject{})),
		"UnbanSubject":           second(client.Moderation.Unban(ctx, UnbanSubject{})),
		"ForceMute":              second(client.Moderation.ForceMute(ctx, ForceMute{})),
		"ReleaseMute":            second(client.Moderation.ReleaseMute(ctx, ReleaseMute{})),
		"RevokePublish":          second(client.Moderation.RevokePublish(ctx, RevokePublish{})),
		"RestorePublish":         second(client.Moderation.RestorePublish(ctx, RestorePublish{})),
		"CloseRoom":              second(client.Moderation.CloseRoom(ctx, CloseRoom{})),
		"CreateDeviceCredential": second(client.DeviceCredentials.Create(ctx, CreateDeviceCredential{})),
		"RotateDeviceCredential": second(client.DeviceCredentials.Rotate(ctx, RotateDeviceCredential{})),
		"RevokeDeviceCredential": second(client.DeviceCredentials.Revoke(ctx, RevokeDeviceCredential{})),
		"CreateWatchdog":         second(client.Watchdogs.Create(ctx, CreateWatchdog{})),
		"UpdateWatchdog":         second(client.Watchdogs.Update(ctx, UpdateWatchdog{Action: WatchdogKick})),
		"DeleteWatchdog":         client.Watchdogs.Delete(ctx, DeleteWatchdog{}),
	}
	queries := map[string]error{
		"GetRoom":         second(client.Rooms.Get(ctx, GetRoom{})),
		"ListEvents":      second(client.Rooms.ListEvents(ctx, ListEvents{Wait: time.Second})),
		"GetParticipant":  second(client.Participants.Get(ctx, GetParticipant{})),
		"MintClientToken": second(client.Tokens.Mint(ctx, MintClientToken{})),
		"GetWatchdog":     second(client.Watchdogs.Get(ctx, GetWatchdog{})),
	}
	for _, err := range client.Rooms.List(ctx, ListRooms{}) {
		queries["ListRooms"] = err
	}
	for _, err := range client.Participants.List(ctx, ListParticipants{}) {
		queries["ListParticipants"] = err
	}
	for _, err := range client.Moderation.Bans(ctx, ListBans{}) {
		queries["ListBans"] = err
	}
	for _, err := range client.Moderation.Events(ctx, ListModerationEvents{}) {
		queries["ListModerationEvents"] = err
	}
	for _, err := range client.DeviceCredentials.List(ctx, ListDeviceCredentials{}) {
		queries["ListDeviceCredentials"] = err
	}
	for _, err := range client.Watchdogs.List(ctx, ListWatchdogs{}) {
		queries["ListWatchdogs"] = err
	}
	for _, err := range client.Rooms.Watch(ctx, WatchEvents{}) {
		queries["WatchEvents"] = err
	}
	for _, err := range client.Participants.Watch(ctx, WatchParticipants{}) {
		queries["WatchParticipants"] = err
	}
	sent := make(map[string]received)
	for _, each := range s.received() {
		sent[each.method] = each
	}
	for name, err := range changes {
		only(t, err, ErrNotFound)
		if got, ok := sent[name]; !ok || got.text("idempotency_key") == "" || got.text("tenant") != testTenant {
			t.Errorf("%s sent %v", name, got)
		}
	}
	for name, err := range queries {
		only(t, err, ErrNotFound)
		if _, ok := sent[name]; !ok {
			t.Errorf("%s was not sent", name)
		}
	}
	if len(sent) != len(changes)+len(queries) {
		t.Errorf("%d methods were called", len(sent))
	}
	for _, name := range methodsOfTheContract() {
		if _, ok := sent[name]; !ok {
			t.Errorf("no method calls %s", name)
		}
	}
}

package boxoffice

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"connectrpc.com/connect"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/anypb"
	"google.golang.org/protobuf/types/known/durationpb"

	controlv1 "boxoffice.example/boxoffice/sdk/go/internal/gen/boxoffice/control/v1"
	"boxoffice.example/boxoffice/sdk/go/internal/gen/boxoffice/control/v1/controlv1connect"
	"boxoffice.example/boxoffice/sdk/go/internal/leaks"
)

const (
	testSecret = "averysecretsecret"
	testKey    = "svc_0123456789abcdef_" + testSecret
	testTenant = "t_0123456789abcdef"
	nowhere    = "http://127.0.0.1:1"
)

func TestMain(m *testing.M) {
	leaks.Main(m)
}

// received is a request that the scripted control plane got.
type received struct {
	method        string
	message       proto.Message
	authorization string
}

func (r received) text(field string) string {
	reflected := r.message.ProtoReflect()
	return reflected.Get(reflected.Descriptor().Fields().ByTextName(field)).String()
}

// script answers calls; stream answers streams.
type script struct {
	call   func(ctx context.Context, got received) (connect.AnyResponse, error)
	stream func(ctx context.Context, got received, send func(*controlv1.WatchEventsResponse)) error

	mutex sync.Mutex
	calls []received
}

func (s *script) note(got received) received {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.calls = append(s.calls, got)
	return got
}

// received returns all requests so far.
func (s *script) received() []received {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return append([]received(nil), s.calls...)
}

func (s *script) texts(field string) []string {
	var texts []string
	for _, each := range s.received() {
		texts = append(texts, each.text(field))
	}
	return texts
}

func methodOf(procedure string) string {
	return procedure[strings.LastIndex(procedure, "/")+1:]
}

// WrapUnary takes the place of all handlers.
func (s *script) WrapUnary(connect.UnaryFunc) connect.UnaryFunc {
	return func(ctx context.Context, request connect.AnyRequest) (connect.AnyResponse, error) {
		message, _ := request.Any().(proto.Message)
		return s.call(ctx, s.note(received{methodOf(request.Spec().Procedure), message, request.Header().Get("Authorization")}))
	}
}

// WrapStreamingClient is not used.
func (s *script) WrapStreamingClient(next connect.StreamingClientFunc) connect.StreamingClientFunc {
	return next
}

// WrapStreamingHandler takes the place of all streams.
func (s *script) WrapStreamingHandler(connect.StreamingHandlerFunc) connect.StreamingHandlerFunc {
	return func(ctx context.Context, conn connect.StreamingHandlerConn) error {
		message := new(controlv1.WatchEventsRequest)
		if err := conn.Receive(message); err != nil {
			return err
		}
		got := s.note(received{methodOf(conn.Spec().Procedure), message, conn.RequestHeader().Get("Authorization")})
		return s.stream(ctx, got, func(part *controlv1.WatchEventsResponse) { _ = conn.Send(part) })
	}
}

// startControl starts the scripted control plane, with HTTP/2 without TLS.
func startControl(t *testing.T, s *script) string {
	t.Helper()
	mux := http.NewServeMux()
	with := connect.WithInterceptors(s)
	mux.Handle(controlv1connect.NewRoomServiceHandler(controlv1connect.UnimplementedRoomServiceHandler{}, with))
	mux.Handle(controlv1connect.NewParticipantServiceHandler(controlv1connect.UnimplementedParticipantServiceHandler{}, with))
	mux.Handle(controlv1connect.NewModerationServiceHandler(controlv1connect.UnimplementedModerationServiceHandler{}, with))
	mux.Handle(controlv1connect.NewTokenServiceHandler(controlv1connect.UnimplementedTokenServiceHandler{}, with))
	mux.Handle(controlv1connect.NewWatchdogServiceHandler(controlv1connect.UnimplementedWatchdogServiceHandler{}, with))
	return startPlainHTTP2(t, mux)
}

func startPlainHTTP2(t *testing.T, handler http.Handler) string {
	t.Helper()
	server := httptest.NewUnstartedServer(handler)
	server.Config.Protocols = new(http.Protocols)
	server.Config.Protocols.SetHTTP1(true)
	server.Config.Protocols.SetUnencryptedHTTP2(true)
	server.Start()
	t.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
	})
	return server.URL
}

// startREST starts a scripted REST interface.
func startREST(t *testing.T, handler http.HandlerFunc) string {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
	})
	return server.URL
}

// newTestClient makes a client without the random part of waits. It is closed when the test ends.
func newTestClient(t *testing.T, options Options) *Client {
	t.Helper()
	if options.URL == "" {
		options.URL = nowhere
	}
	if options.ControlURL == "" {
		options.ControlURL = nowhere
	}
	if options.APIKey.IsZero() {
		options.APIKey = NewSecret(testKey)
	}
	client, err := New(options)
	if err != nil {
		t.Fatal(err)
	}
	client.rest.calls.wait = func(_ int, atLeast time.Duration) time.Duration { return atLeast }
	t.Cleanup(client.Close)
	return client
}

// clientOf is a client of a control plane that does each of these in turn, and then repeats the last one.
func clientOf(t *testing.T, options Options, steps ...func() (connect.AnyResponse, error)) (*Client, *script) {
	t.Helper()
	var mutex sync.Mutex
	done := 0
	s := &script{call: func(context.Context, received) (connect.AnyResponse, error) {
		mutex.Lock()
		step := steps[min(done, len(steps)-1)]
		done++
		mutex.Unlock()
		return step()
	}}
	options.ControlURL = startControl(t, s)
	if options.Tenant == "" {
		options.Tenant = testTenant
	}
	return newTestClient(t, options), s
}

func giveRoom() (connect.AnyResponse, error) {
	return connect.NewResponse(&controlv1.GetRoomResponse{Room: &controlv1.Room{Name: "lobby"}}), nil
}

func giveNewRoom() (connect.AnyResponse, error) {
	return connect.NewResponse(&controlv1.CreateRoomResponse{Room: &controlv1.Room{Name: "lobby"}}), nil
}

// refusal is a failure of the service with its details.
type refusal struct {
	code       connect.Code
	reason     string
	retryDelay time.Duration
	field      string
}

func (r refusal) step() (connect.AnyResponse, error) {
	return nil, r.err()
}

func (r refusal) err() error {
	failure := connect.NewError(r.code, errors.New("refused: "+r.reason))
	if r.reason == "" {
		return failure
	}
	failure.Meta().Set("X-Request-Id", "req_1")
	entry := func(name, value string) []byte { return bytesField(bytesField(nil, 1, name), 2, value) }
	info := bytesField(bytesField(nil, 1, r.reason), 2, "boxoffice")
	info = bytesField(info, 3, string(entry("request_id", "req_1")))
	info = bytesField(info, 3, string(entry("excess", "room.end")))
	addDetail(failure, "google.rpc.ErrorInfo", info)
	if r.retryDelay > 0 {
		delay, _ := proto.Marshal(durationpb.New(r.retryDelay))
		addDetail(failure, "google.rpc.RetryInfo", bytesField(nil, 1, string(delay)))
	}
	if r.field != "" {
		addDetail(failure, "google.rpc.BadRequest", bytesField(nil, 1, string(entry(r.field, "must be good"))))
	}
	return failure
}

func bytesField(message []byte, number protowire.Number, value string) []byte {
	return protowire.AppendString(protowire.AppendTag(message, number, protowire.BytesType), value)
}

func addDetail(failure *connect.Error, name string, value []byte) {
	detail, err := connect.NewErrorDetail(&anypb.Any{TypeUrl: "type.googleapis.com/" + name, Value: value})
	if err == nil {
		failure.AddDetail(detail)
	}
}

// detailsOf returns the [*Error] of a failed call.
func detailsOf(t *testing.T, err error) *Error {
	t.Helper()
	var failure *Error
	if !errors.As(err, &failure) {
		t.Fatalf("no *Error: %v", err)
	}
	return failure
}

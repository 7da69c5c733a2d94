package boxoffice

import (
	"context"
	"net/http"
	"strings"

	"connectrpc.com/connect"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	controlv1 "boxoffice.example/boxoffice/sdk/go/internal/gen/boxoffice/control/v1"
	"boxoffice.example/boxoffice/sdk/go/internal/gen/boxoffice/control/v1/controlv1connect"
)

// control calls the control plane over gRPC.
type control struct {
	rooms        controlv1connect.RoomServiceClient
	participants controlv1connect.ParticipantServiceClient
	moderation   controlv1connect.ModerationServiceClient
	tokens       controlv1connect.TokenServiceClient
	watchdogs    controlv1connect.WatchdogServiceClient

	hasAddress bool
	key        Secret
	client     *http.Client
	calls      *caller
	tenant     *tenantLookup
}

func newControl(options Options, calls *caller, tenant *tenantLookup) *control {
	client := newHTTPClient(newControlTransport(options.TLS), options.WrapTransport)
	address := strings.TrimRight(options.ControlURL, "/")
	with := []connect.ClientOption{
		connect.WithGRPC(),
		connect.WithInterceptors(authorization{options.APIKey}),
		connect.WithReadMaxBytes(answerBytesMax),
	}
	return &control{
		rooms:        controlv1connect.NewRoomServiceClient(client, address, with...),
		participants: controlv1connect.NewParticipantServiceClient(client, address, with...),
		moderation:   controlv1connect.NewModerationServiceClient(client, address, with...),
		tokens:       controlv1connect.NewTokenServiceClient(client, address, with...),
		watchdogs:    controlv1connect.NewWatchdogServiceClient(client, address, with...),
		hasAddress:   address != "",
		key:          options.APIKey,
		client:       client,
		calls:        calls,
		tenant:       tenant,
	}
}

func (c *control) close() {
	c.client.CloseIdleConnections()
}

// request is a request of the public interface.
type request[Message any] interface {
	message(*checks) Message
}

// query makes a call that may be repeated.
func query[Message, Answer proto.Message](
	ctx context.Context,
	c *control,
	call func(context.Context, Message) (Answer, error),
	given request[Message],
	options []CallOption,
) (Answer, error) {
	return send(ctx, c, call, given, "", c.calls.options(options))
}

// mutate makes a call that may be repeated because all attempts have the same idempotency key.
func mutate[Message, Answer proto.Message](
	ctx context.Context,
	c *control,
	call func(context.Context, Message) (Answer, error),
	given request[Message],
	options []CallOption,
) (Answer, error) {
	settings := c.calls.options(options)
	key, err := settings.key(' ', 128, "must be 1 to 128 printable ASCII characters")
	if err != nil {
		var none Answer
		return none, err
	}
	return send(ctx, c, call, given, key, settings)
}

func send[Message, Answer proto.Message](
	ctx context.Context,
	c *control,
	call func(context.Context, Message) (Answer, error),
	given request[Message],
	idempotencyKey string,
	settings callOptions,
) (Answer, error) {
	var none Answer
	message, err := prepare(c, given, idempotencyKey)
	if err != nil {
		return none, err
	}
	name := string(message.ProtoReflect().Descriptor().Name())
	return attempt(ctx, c.calls, strings.TrimSuffix(name, "Request"), settings, isTransient,
		func(ctx context.Context) (Answer, error) {
			if err := c.addTenant(ctx, message); err != nil {
				return none, err
			}
			answer, err := call(ctx, message)
			if err != nil {
				return none, errorOfCall(err)
			}
			return answer, nil
		})
}

// prepare makes the message of a request. Mistakes in it are reported before the service is called.
func prepare[Message proto.Message](c *control, given request[Message], idempotencyKey string) (Message, error) {
	var checked checks
	message := given.message(&checked)
	if !c.hasAddress {
		checked.fail("ControlURL", "is needed for this call")
	}
	if c.key.IsZero() {
		checked.fail("APIKey", "is needed for this call")
	}
	setField(message, "idempotency_key", idempotencyKey)
	if _, err := proto.Marshal(message); err != nil {
		checked.fail("", "must be well-formed strings: "+err.Error())
	}
	return message, checked.err()
}

func (c *control) addTenant(ctx context.Context, message proto.Message) error {
	tenant, err := c.tenant.get(ctx)
	if err == nil {
		setField(message, "tenant", tenant)
	}
	return err
}

// setField sets a string, if the message has such a field.
func setField(message proto.Message, name protoreflect.Name, value string) {
	reflected := message.ProtoReflect()
	if field := reflected.Descriptor().Fields().ByName(name); field != nil {
		reflected.Set(field, protoreflect.ValueOfString(value))
	}
}

// authorization adds the key to calls and streams.
type authorization struct {
	key Secret
}

// WrapUnary is part of [connect.Interceptor].
func (a authorization) WrapUnary(next connect.UnaryFunc) connect.UnaryFunc {
	return func(ctx context.Context, request connect.AnyRequest) (connect.AnyResponse, error) {
		request.Header().Set("Authorization", "Bearer "+a.key.Reveal())
		return next(ctx, request)
	}
}

// WrapStreamingClient is part of [connect.Interceptor].
func (a authorization) WrapStreamingClient(next connect.StreamingClientFunc) connect.StreamingClientFunc {
	return func(ctx context.Context, spec connect.Spec) connect.StreamingClientConn {
		stream := next(ctx, spec)
		stream.RequestHeader().Set("Authorization", "Bearer "+a.key.Reveal())
		return stream
	}
}

// WrapStreamingHandler is part of [connect.Interceptor].
func (a authorization) WrapStreamingHandler(next connect.StreamingHandlerFunc) connect.StreamingHandlerFunc {
	return next
}

// actorOf is the actor of a request, if there is one.
func actorOf(actor *Actor) *controlv1.Actor {
	if actor == nil {
		return nil
	}
	return &controlv1.Actor{Username: actor.Username, DeviceThumbprint: actor.DeviceThumbprint}
}

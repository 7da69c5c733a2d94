package boxoffice

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	controlv1 "boxoffice.example/boxoffice/sdk/go/internal/gen/boxoffice/control/v1"
)

// filesOfTheContract are those with services or resources.
func filesOfTheContract() []protoreflect.FileDescriptor {
	return []protoreflect.FileDescriptor{
		controlv1.File_boxoffice_control_v1_room_service_proto,
		controlv1.File_boxoffice_control_v1_participant_service_proto,
		controlv1.File_boxoffice_control_v1_moderation_service_proto,
		controlv1.File_boxoffice_control_v1_token_service_proto,
		controlv1.File_boxoffice_control_v1_watchdog_service_proto,
	}
}

func methodsOfTheContract() []string {
	var names []string
	for _, file := range filesOfTheContract() {
		for i := range file.Services().Len() {
			methods := file.Services().Get(i).Methods()
			for j := range methods.Len() {
				names = append(names, string(methods.Get(j).Name()))
			}
		}
	}
	return names
}

// fill sets every field of a message; of several, the one with the given name or else the last.
func fill(message protoreflect.Message, chosen string, depth int) {
	fields := message.Descriptor().Fields()
	for i := range fields.Len() {
		field := fields.Get(i)
		if oneof := field.ContainingOneof(); oneof != nil && !oneof.IsSynthetic() && message.WhichOneof(oneof) != nil &&
			string(message.WhichOneof(oneof).Name()) == chosen {
			continue
		}
		value := valueOf(message, field, chosen, depth)
		if field.IsList() {
			list := message.NewField(field).List()
			list.Append(value)
			value = protoreflect.ValueOfList(list)
		}
		message.Set(field, value)
	}
}

func valueOf(message protoreflect.Message, field protoreflect.FieldDescriptor, chosen string, depth int) protoreflect.Value {
	switch field.Kind() {
	case protoreflect.StringKind:
		return protoreflect.ValueOfString("text of " + string(field.Name()))
	case protoreflect.BoolKind:
		return protoreflect.ValueOfBool(true)
	case protoreflect.Int32Kind:
		return protoreflect.ValueOfInt32(int32(field.Number()) + 100)
	case protoreflect.Int64Kind:
		return protoreflect.ValueOfInt64(int64(field.Number()) + 1<<40)
	case protoreflect.Uint64Kind:
		return protoreflect.ValueOfUint64(uint64(field.Number()) + 1<<50)
	case protoreflect.EnumKind:
		return protoreflect.ValueOfEnum(2)
	}
	switch field.Message().FullName() {
	case "google.protobuf.Timestamp":
		return protoreflect.ValueOfMessage(timestamppb.New(time.Unix(int64(field.Number()), 0)).ProtoReflect())
	case "google.protobuf.Duration":
		return protoreflect.ValueOfMessage(durationpb.New(time.Duration(field.Number()) * time.Millisecond).ProtoReflect())
	}
	inner := newItem(message, field)
	if depth < 6 {
		fill(inner, chosen, depth+1)
	}
	return protoreflect.ValueOfMessage(inner)
}

func newItem(message protoreflect.Message, field protoreflect.FieldDescriptor) protoreflect.Message {
	if field.IsList() {
		return message.NewField(field).List().NewElement().Message()
	}
	return message.NewField(field).Message()
}

// compare checks that value, decoded JSON, has every field of the message.
func compare(t *testing.T, path string, message protoreflect.Message, value any) {
	t.Helper()
	object, _ := value.(map[string]any)
	message.Range(func(field protoreflect.FieldDescriptor, want protoreflect.Value) bool {
		at := path + "." + string(field.Name())
		got, ok := object[string(field.Name())]
		if !ok {
			t.Errorf("%s is missing", at)
			return true
		}
		if field.IsList() {
			items, _ := got.([]any)
			if len(items) != 1 {
				t.Errorf("%s has %d items", at, len(items))
				return true
			}
			got, want = items[0], want.List().Get(0)
		}
		compareOne(t, at, field, want, got)
		return true
	})
	for name := range object {
		if field := message.Descriptor().Fields().ByTextName(name); field == nil || !message.Has(field) {
			t.Errorf("%s.%s is not in the contract", path, name)
		}
	}
}

func compareOne(t *testing.T, at string, field protoreflect.FieldDescriptor, want protoreflect.Value, got any) {
	t.Helper()
	expected := fmt.Sprint(want)
	switch field.Kind() {
	case protoreflect.EnumKind:
		name := string(field.Enum().Values().ByNumber(want.Enum()).Name())
		word, _ := got.(string)
		if word == "" || !strings.HasSuffix(name, "_"+strings.ToUpper(word)) {
			t.Errorf("%s is %v, not %s", at, got, name)
		}
		return
	case protoreflect.MessageKind:
		switch known := want.Message().Interface().(type) {
		case *timestamppb.Timestamp:
			expected = known.AsTime().Format(time.RFC3339)
		case *durationpb.Duration:
			expected = fmt.Sprint(known.AsDuration().Seconds())
		default:
			compare(t, at, want.Message(), got)
			return
		}
	}
	if fmt.Sprint(got) != expected {
		t.Errorf("%s is %v, not %s", at, got, expected)
	}
}

// decoded is value in JSON and back. Large integers stay exact.
func decoded(t *testing.T, value any) any {
	t.Helper()
	text, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	decoder := json.NewDecoder(strings.NewReader(string(text)))
	decoder.UseNumber()
	var result any
	if err := decoder.Decode(&result); err != nil {
		t.Fatal(err)
	}
	return result
}

// TestAnswersHaveEveryField compares messages with all fields with what the program gets.
func TestAnswersHaveEveryField(t *testing.T) {
	answer := func(message proto.Message, convert func() any) {
		names := []string{""}
		oneofs := message.ProtoReflect().Descriptor().Oneofs()
		for i := range oneofs.Len() {
			fields := oneofs.Get(i).Fields()
			for j := range fields.Len() {
				names = append(names, string(fields.Get(j).Name()))
			}
		}
		for _, chosen := range names {
			proto.Reset(message)
			fill(message.ProtoReflect(), chosen, 0)
			compare(t, string(message.ProtoReflect().Descriptor().Name()), message.ProtoReflect(), decoded(t, convert()))
		}
	}
	room, participant, ban, record := new(controlv1.Room), new(controlv1.Participant), new(controlv1.Ban), new(controlv1.ModerationEvent)
	watchdog, credential, event, token := new(controlv1.Watchdog), new(controlv1.DeviceCredential), new(controlv1.Event), new(controlv1.MintClientTokenResponse)
	answer(room, func() any { return fromRoom(room) })
	answer(participant, func() any { return fromParticipant(participant) })
	answer(ban, func() any { return fromBan(ban) })
	answer(record, func() any { return fromModerationEvent(record) })
	answer(watchdog, func() any { return fromWatchdog(watchdog) })
	answer(credential, func() any { return fromDeviceCredential(credential) })
	answer(event, func() any { return fromEvent(event) })
	answer(token, func() any {
		minted := fromMintedToken(token)
		text := minted.Token.Reveal()
		minted.Token = Secret{}
		// JSON would have a mask.
		shown, _ := decoded(t, minted).(map[string]any)
		shown["token"] = text
		return shown
	})
}

// requestCase makes a request from JSON, and the message that is sent for it.
type requestCase struct {
	kind reflect.Type
	make func(text []byte) (value any, message protoreflect.Message, err error)
}

func requestOf[Request request[Message], Message proto.Message]() requestCase {
	return requestCase{reflect.TypeFor[Request](), func(text []byte) (any, protoreflect.Message, error) {
		var value Request
		err := json.Unmarshal(text, &value)
		return value, value.message(new(checks)).ProtoReflect(), err
	}}
}

func requests() []requestCase {
	return []requestCase{
		requestOf[CreateRoom, *controlv1.CreateRoomRequest](),
		requestOf[GetRoom, *controlv1.GetRoomRequest](),
		requestOf[ListRooms, *controlv1.ListRoomsRequest](),
		requestOf[EndRoom, *controlv1.EndRoomRequest](),
		requestOf[WatchEvents, *controlv1.WatchEventsRequest](),
		requestOf[ListEvents, *controlv1.ListEventsRequest](),
		requestOf[UpdateRoomPolicy, *controlv1.UpdateRoomPolicyRequest](),
		requestOf[GetParticipant, *controlv1.GetParticipantRequest](),
		requestOf[ListParticipants, *controlv1.ListParticipantsRequest](),
		requestOf[WatchParticipants, *controlv1.WatchParticipantsRequest](),
		requestOf[KickParticipant, *controlv1.KickParticipantRequest](),
		requestOf[BanSubject, *controlv1.BanSubjectRequest](),
		requestOf[UnbanSubject, *controlv1.UnbanSubjectRequest](),
		requestOf[ListBans, *controlv1.ListBansRequest](),
		requestOf[ForceMute, *controlv1.ForceMuteRequest](),
		requestOf[ReleaseMute, *controlv1.ReleaseMuteRequest](),
		requestOf[RevokePublish, *controlv1.RevokePublishRequest](),
		requestOf[RestorePublish, *controlv1.RestorePublishRequest](),
		requestOf[CloseRoom, *controlv1.CloseRoomRequest](),
		requestOf[ListModerationEvents, *controlv1.ListModerationEventsRequest](),
		requestOf[MintClientToken, *controlv1.MintClientTokenRequest](),
		requestOf[CreateDeviceCredential, *controlv1.CreateDeviceCredentialRequest](),
		requestOf[ListDeviceCredentials, *controlv1.ListDeviceCredentialsRequest](),
		requestOf[RotateDeviceCredential, *controlv1.RotateDeviceCredentialRequest](),
		requestOf[RevokeDeviceCredential, *controlv1.RevokeDeviceCredentialRequest](),
		requestOf[CreateWatchdog, *controlv1.CreateWatchdogRequest](),
		requestOf[GetWatchdog, *controlv1.GetWatchdogRequest](),
		requestOf[ListWatchdogs, *controlv1.ListWatchdogsRequest](),
		requestOf[UpdateWatchdog, *controlv1.UpdateWatchdogRequest](),
		requestOf[DeleteWatchdog, *controlv1.DeleteWatchdogRequest](),
	}
}

// sample is JSON for a field of a type in Go, and the same as the contract has it.
func sample(t *testing.T, kind reflect.Type) any {
	t.Helper()
	switch kind {
	case reflect.TypeFor[time.Time]():
		return "2026-01-02T03:04:05Z"
	case reflect.TypeFor[time.Duration](), reflect.TypeFor[*time.Duration]():
		return 1.5
	case reflect.TypeFor[RoomState]():
		return "ended"
	case reflect.TypeFor[RoomMode]():
		return "broadcast"
	case reflect.TypeFor[WatchdogAction]():
		return "kick"
	case reflect.TypeFor[[]TrackKind]():
		return []any{"video"}
	case reflect.TypeFor[Role]():
		return "host"
	}
	switch kind.Kind() {
	case reflect.String:
		return "text"
	case reflect.Bool:
		return true
	case reflect.Int32:
		return 7
	case reflect.Slice:
		return []any{sample(t, kind.Elem())}
	case reflect.Pointer:
		return sample(t, kind.Elem())
	case reflect.Struct:
		object := map[string]any{}
		for i := range kind.NumField() {
			object[jsonName(kind.Field(i))] = sample(t, kind.Field(i).Type)
		}
		return object
	}
	t.Fatalf("no sample of %v", kind)
	return nil
}

func jsonName(field reflect.StructField) string {
	name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
	return name
}

// TestRequestsHaveEveryField fills each request from JSON, one field after the other, and looks for it in the
// message. Together, the fields cover the message.
func TestRequestsHaveEveryField(t *testing.T) {
	for _, request := range requests() {
		t.Run(request.kind.Name(), func(t *testing.T) {
			covered := map[string]bool{"tenant": true, "idempotency_key": true, "update_mask": true}
			for i := range request.kind.NumField() {
				name := jsonName(request.kind.Field(i))
				for _, each := range sentFor(t, request, name, sample(t, request.kind.Field(i).Type)) {
					covered[each] = true
				}
			}
			_, message, err := request.make([]byte("{}"))
			if err != nil {
				t.Fatal(err)
			}
			fields := message.Descriptor().Fields()
			for i := range fields.Len() {
				if name := string(fields.Get(i).Name()); !covered[name] {
					t.Errorf("there is no %s", name)
				}
			}
		})
	}
	methods := methodsOfTheContract()
	if slices.Sort(methods); len(requests()) != len(slices.Compact(methods)) {
		t.Errorf("%d requests for %d methods", len(requests()), len(methods))
	}
}

// sentFor returns the fields of the message that one field of a request sets.
func sentFor(t *testing.T, request requestCase, name string, value any) []string {
	t.Helper()
	text, err := json.Marshal(map[string]any{name: value})
	if err != nil {
		t.Fatal(err)
	}
	made, message, err := request.make(text)
	if err != nil {
		t.Fatal(err)
	}
	if again, _ := decoded(t, made).(map[string]any); fmt.Sprint(again[name]) != fmt.Sprint(value) {
		t.Errorf("%s became %v", text, again)
	}
	covered := []string{name}
	if watchdog := message.Descriptor().Fields().ByName("watchdog"); watchdog != nil && name != "actor" {
		message = message.Get(watchdog).Message()
		covered = append(covered, "watchdog")
	}
	field := message.Descriptor().Fields().ByTextName(name)
	if field == nil || !message.Has(field) {
		t.Errorf("%s is not in %v", name, message)
		return nil
	}
	if field.Kind() == protoreflect.MessageKind && strings.HasPrefix(string(field.Message().FullName()), "boxoffice") {
		compareSet(t, name, message.Get(field).Message())
	}
	return covered
}

// compareSet checks that all fields of a message inside a request are set.
func compareSet(t *testing.T, path string, message protoreflect.Message) {
	t.Helper()
	fields := message.Descriptor().Fields()
	for i := range fields.Len() {
		if !message.Has(fields.Get(i)) {
			t.Errorf("%s has no %s", path, fields.Get(i).Name())
		}
	}
}

func TestEnumsOfLaterVersions(t *testing.T) {
	room := fromRoom(&controlv1.Room{State: 27})
	if room.State != "27" {
		t.Errorf("state %q", room.State)
	}
	var c checks
	if back := numberOf[controlv1.Room_State](&c, "state", room.State); back != 27 || c.err() != nil {
		t.Errorf("number %d, error %v", back, c.err())
	}
	for _, word := range []RoomState{"0", "-1", "4294967296", "LIVE", "state_live", "unspecified"} {
		var c checks
		if numberOf[controlv1.Room_State](&c, "state", word); c.err() == nil {
			t.Errorf("%q was accepted", word)
		}
	}
	if fromRoom(&controlv1.Room{}).State != "" {
		t.Error("an unset state is not empty")
	}
}

func TestSeconds(t *testing.T) {
	for text, want := range map[string]time.Duration{"600": 10 * time.Minute, "0.001": time.Millisecond, "-1.5": -1500 * time.Millisecond} {
		var value struct{ Wait seconds }
		if err := json.Unmarshal([]byte(`{"Wait":`+text+`}`), &value); err != nil || time.Duration(value.Wait) != want {
			t.Errorf("%s is %v, error %v", text, time.Duration(value.Wait), err)
		}
		if back, err := json.Marshal(value.Wait); string(back) != text || err != nil {
			t.Errorf("%s became %s, error %v", text, back, err)
		}
	}
	for _, text := range []string{`"600"`, "1e300", "true", "[]"} {
		var value ListEvents
		if err := json.Unmarshal([]byte(`{"wait":`+text+`}`), &value); err == nil {
			t.Errorf("%s was accepted", text)
		}
	}
}

// TestRunwayIsAbsentOrZero: with nothing used, the balance lasts for ever; with nothing left, not at all.
func TestRunwayIsAbsentOrZero(t *testing.T) {
	for _, each := range []struct {
		runway *durationpb.Duration
		want   string
	}{
		{nil, `{"balance_micros":0,"burn_per_hour_micros":0,"below":60}`},
		{&durationpb.Duration{}, `{"balance_micros":0,"burn_per_hour_micros":0,"below":60,"runway":0}`},
		// The longest duration of Go, which is shorter than that of the contract.
		{&durationpb.Duration{Seconds: 315_576_000_000}, `{"balance_micros":0,"burn_per_hour_micros":0,"below":60,"runway":9223372036.854776}`},
	} {
		alert := fromRunwayAlert(&controlv1.RunwayAlert{Below: durationpb.New(time.Minute), Runway: each.runway})
		text, err := json.Marshal(alert)
		if err != nil || string(text) != each.want {
			t.Errorf("%v: %s, %v", each.runway, text, err)
		}
	}
}

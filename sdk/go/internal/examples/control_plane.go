// Package examples holds the Go examples of docs/control-plane-calls.md: a test compares them.
package examples

import (
	"context"
	"errors"
	"time"

	boxoffice "boxoffice.example/boxoffice/sdk/go"
)

// Application is what an application does with events.
type Application interface {
	ForgetEverything()
	Handle(event *boxoffice.WatchedEvent) error
	Save(resumeToken string) error
	TopUp()
}

// Connect creates a client.
func Connect(apiKey string) (*boxoffice.Client, error) {
	client, err := boxoffice.New(boxoffice.Options{
		URL:        "https://boxoffice.example",
		ControlURL: "https://control.example:443",
		APIKey:     boxoffice.NewSecret(apiKey),
	})
	return client, err
}

// OpenRoom creates a room, and locks it.
func OpenRoom(ctx context.Context, client *boxoffice.Client) error {
	_, err := client.Rooms.Create(ctx, boxoffice.CreateRoom{
		Room:   "lobby",
		Policy: &boxoffice.RoomPolicy{MaxParticipants: 50},
	})
	if err != nil {
		return err
	}
	_, err = client.Rooms.UpdatePolicy(ctx, boxoffice.UpdateRoomPolicy{
		Room:   "lobby",
		Policy: boxoffice.RoomPolicyChanges{Locked: boxoffice.Ptr(true)},
	})
	return err
}

// Mint makes a token for a device.
func Mint(ctx context.Context, client *boxoffice.Client, thumbprint string) (boxoffice.Secret, error) {
	minted, err := client.Tokens.Mint(ctx, boxoffice.MintClientToken{
		Room:             "lobby",
		Username:         "Ann",
		DeviceThumbprint: thumbprint,
		Role:             boxoffice.RoleHost,
	})
	if err != nil {
		return boxoffice.Secret{}, err
	}
	return minted.Token, nil
}

// ListParticipants returns who is in a room.
func ListParticipants(ctx context.Context, client *boxoffice.Client) ([]string, error) {
	var names []string
	for participant, err := range client.Participants.List(ctx, boxoffice.ListParticipants{Room: "lobby"}) {
		if err != nil {
			return nil, err
		}
		names = append(names, participant.Username)
	}
	return names, nil
}

// Moderate kicks a participant on behalf of another, and bans the user.
func Moderate(ctx context.Context, client *boxoffice.Client, thumbprint string) error {
	_, err := client.Moderation.Kick(ctx, boxoffice.KickParticipant{
		Room:     "lobby",
		Username: "bob",
		Reason:   "noise",
		Actor:    &boxoffice.Actor{Username: "ann", DeviceThumbprint: thumbprint},
	})
	if err != nil {
		return err
	}
	_, err = client.Moderation.Ban(ctx, boxoffice.BanSubject{
		Room: "lobby", Username: "bob", TTL: time.Hour,
	})
	return err
}

// Follow hands all events to the application, until the context ends.
func Follow(ctx context.Context, client *boxoffice.Client, application Application, token string) error {
	for event, err := range client.Rooms.Watch(ctx, boxoffice.WatchEvents{ResumeToken: token}) {
		if err != nil {
			return err
		}
		if event.Type == boxoffice.EventReset {
			application.ForgetEverything()
		}
		if err := application.Handle(event); err != nil {
			return err
		}
		if event.ResumeToken != "" {
			if err := application.Save(event.ResumeToken); err != nil {
				return err
			}
		}
	}
	return nil
}

// Watch ends a room that was empty for ten minutes.
func Watch(ctx context.Context, client *boxoffice.Client) error {
	_, err := client.Watchdogs.Create(ctx, boxoffice.CreateWatchdog{
		Room: "lobby", EmptyFor: 10 * time.Minute, Action: boxoffice.WatchdogEndRoom,
	})
	return err
}

// React tells failures apart.
func React(ctx context.Context, client *boxoffice.Client, application Application) error {
	_, err := client.Rooms.End(ctx, boxoffice.EndRoom{Room: "lobby"})
	var failure *boxoffice.Error
	switch {
	case errors.Is(err, boxoffice.ErrClosed):
		return nil // It has ended already.
	case errors.As(err, &failure) && failure.Reason == boxoffice.ReasonNoCredit:
		application.TopUp()
		return nil
	}
	return err
}

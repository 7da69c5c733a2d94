// Package boxoffice is the client of Boxoffice for back ends: rooms, participants, moderation, tokens,
// watchdogs and device credentials over the control plane, and keys, billing, usage, rates, alerts and webhooks
// over REST. [VerifyWebhook] is for receivers of webhooks.
//
// One [Client] covers everything that an API key may do:
//
//	client, err := boxoffice.New(boxoffice.Options{
//		URL:        "https://boxoffice.example",
//		ControlURL: "https://control.example:443",
//		APIKey:     boxoffice.NewSecret(os.Getenv("BOXOFFICE_API_KEY")),
//	})
//	if err != nil {
//		return err
//	}
//	defer client.Close()
//	room, err := client.Rooms.Create(ctx, boxoffice.CreateRoom{Room: "lobby"})
//	if errors.Is(err, boxoffice.ErrExists) {
//		room, err = client.Rooms.Get(ctx, boxoffice.GetRoom{Room: "lobby"})
//	}
//
// A client may be used by any number of goroutines. Calls are retried after temporary failures; however
// often a change is sent, it takes effect once. Failures are one of the sentinels, such as [ErrNotFound], for
// [errors.Is], and an [*Error] with the details for [errors.As]. A cancelled context is [context.Canceled]
// instead.
package boxoffice

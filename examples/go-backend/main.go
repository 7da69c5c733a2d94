// A back end: it opens a room, gives tokens to its users, and receives webhooks.
//
//	POST /tokens    {"username":"Ann","thumbprint":"..."}, for a user who is logged in
//	POST /webhooks  for Boxoffice
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"

	boxoffice "boxoffice.example/boxoffice/sdk/go"
)

const (
	bodyBytesMax = 1 << 20
	room         = "lobby"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context) error {
	client, err := boxoffice.New(boxoffice.Options{
		URL:        os.Getenv("BOXOFFICE_URL"),
		ControlURL: os.Getenv("BOXOFFICE_CONTROL_URL"),
		APIKey:     boxoffice.NewSecret(os.Getenv("BOXOFFICE_API_KEY")),
	})
	if err != nil {
		return err
	}
	defer client.Close()
	_, err = client.Rooms.Create(ctx, boxoffice.CreateRoom{Room: room, Policy: &boxoffice.RoomPolicy{MaxParticipants: 50}})
	if err != nil && !errors.Is(err, boxoffice.ErrExists) {
		return err
	}
	routes := http.NewServeMux()
	routes.Handle("POST /tokens", giveToken(client))
	routes.Handle("POST /webhooks", receiveEvents(os.Getenv("WEBHOOK_SECRET")))
	return serve(ctx, routes)
}

func serve(ctx context.Context, routes http.Handler) error {
	port := os.Getenv("PORT")
	if port == "" {
		port = "3000"
	}
	listener, err := net.Listen("tcp", "127.0.0.1:"+port)
	if err != nil {
		return err
	}
	fmt.Printf("http://%s\n", listener.Addr())
	server := &http.Server{Handler: routes, ReadHeaderTimeout: 10 * time.Second}
	context.AfterFunc(ctx, func() { server.Close() })
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// giveToken mints a token. Your own log-in belongs here: who asks, and may they come in?
func giveToken(client *boxoffice.Client) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		var asked struct{ Username, Thumbprint string }
		if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, bodyBytesMax)).Decode(&asked); err != nil {
			answer(w, http.StatusBadRequest, map[string]any{"error": "the body is no JSON"})
			return
		}
		minted, err := client.Tokens.Mint(r.Context(), boxoffice.MintClientToken{
			Room: room, Username: asked.Username, DeviceThumbprint: asked.Thumbprint, Role: boxoffice.RoleHost,
		})
		if err != nil {
			refuse(w, err)
			return
		}
		answer(w, http.StatusOK, map[string]any{"token": minted.Token.Reveal(), "expires_at": minted.ExpireTime})
	}
}

// receiveEvents prints each event once. Keep the ids of those that you handled in your database: an event may come twice.
func receiveEvents(secret string) http.HandlerFunc {
	var seen sync.Map
	return func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, bodyBytesMax))
		if err != nil {
			answer(w, http.StatusRequestEntityTooLarge, map[string]any{"error": "the body is too large"})
			return
		}
		events, err := boxoffice.VerifyWebhookEvents(r.Header, body, secret)
		if err != nil {
			answer(w, http.StatusUnauthorized, map[string]any{"error": err.Error()})
			return
		}
		for _, event := range events {
			if _, isKnown := seen.LoadOrStore(event.ID, true); !isKnown {
				fmt.Printf("event %s\n", event.Type)
			}
		}
		answer(w, http.StatusOK, map[string]any{})
	}
}

func refuse(w http.ResponseWriter, err error) {
	status := http.StatusServiceUnavailable
	switch {
	case errors.Is(err, boxoffice.ErrInvalid):
		status = http.StatusBadRequest
	case errors.Is(err, boxoffice.ErrDenied):
		status = http.StatusForbidden
	case errors.Is(err, boxoffice.ErrPrecondition):
		status = http.StatusConflict
	}
	if status >= http.StatusInternalServerError {
		log.Print(err)
		answer(w, status, map[string]any{"error": "try again"})
		return
	}
	answer(w, status, map[string]any{"error": err.Error()})
}

func answer(w http.ResponseWriter, status int, body map[string]any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	if err := json.NewEncoder(w).Encode(body); err != nil {
		log.Print(err)
	}
}

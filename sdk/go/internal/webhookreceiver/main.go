// Command webhookreceiver is the receiver of docs/webhooks.md: a test compares them, and sends to it.
// WEBHOOK_SECRET has its secret.
package main

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"
)

const (
	ageMax       = 5 * time.Minute
	bodyBytesMax = 1 << 20
)

// isGenuine tells whether the service sent this body, within the last minutes.
// body is what arrived, byte for byte.
func isGenuine(header http.Header, body []byte, secret string) bool {
	id, timestamp := header.Get("webhook-id"), header.Get("webhook-timestamp")
	seconds, err := strconv.ParseInt(timestamp, 10, 64)
	if id == "" || err != nil {
		return false
	}
	if age := time.Since(time.Unix(seconds, 0)); age > ageMax || age < -ageMax {
		return false
	}
	key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, "whsec_"))
	if err != nil || len(key) == 0 {
		return false
	}
	mac := hmac.New(sha256.New, key)
	fmt.Fprintf(mac, "%s.%s.", id, timestamp)
	mac.Write(body)
	expected := mac.Sum(nil)
	for _, each := range strings.Split(header.Get("webhook-signature"), " ") {
		version, text, _ := strings.Cut(each, ",")
		given, err := base64.StdEncoding.DecodeString(text)
		if version == "v1" && err == nil && hmac.Equal(given, expected) {
			return true
		}
	}
	return false
}

// keepAll hands each event of a body to keep: with max_batch, the body is a list.
func keepAll(body []byte, keep func(id string, event []byte) error) error {
	var list struct{ Events []json.RawMessage }
	if err := json.Unmarshal(body, &list); err != nil {
		return err
	}
	if list.Events == nil {
		list.Events = []json.RawMessage{body}
	}
	for _, each := range list.Events {
		var event struct{ ID string }
		if err := json.Unmarshal(each, &event); err != nil {
			return err
		}
		if err := keep(event.ID, each); err != nil {
			return err
		}
	}
	return nil
}

// receive hands each genuine event to keep, which does nothing if it has an event of this id already.
func receive(secret string, keep func(id string, event []byte) error) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, bodyBytesMax))
		switch {
		case err != nil:
			w.WriteHeader(http.StatusRequestEntityTooLarge)
		case !isGenuine(r.Header, body, secret):
			w.WriteHeader(http.StatusUnauthorized)
		case keepAll(body, keep) != nil:
			w.WriteHeader(http.StatusInternalServerError)
		default:
			w.WriteHeader(http.StatusNoContent)
		}
	}
}

func main() {
	var kept sync.Map
	keep := func(id string, event []byte) error {
		if _, loaded := kept.LoadOrStore(id, true); !loaded {
			fmt.Printf("event %s %s\n", id, event)
		}
		return nil
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("port %d\n", listener.Addr().(*net.TCPAddr).Port)
	server := http.Server{Handler: receive(os.Getenv("WEBHOOK_SECRET"), keep), ReadTimeout: 10 * time.Second}
	log.Fatal(server.Serve(listener))
}

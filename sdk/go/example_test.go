package boxoffice_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"

	boxoffice "boxoffice.example/boxoffice/sdk/go"
)

// A client reads the balance.
func ExampleBilling_Get() {
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, `{"balance":{"micros":20000000,"display":"$20.000000"},"admitted":true}`)
	}))
	defer service.Close()
	client, err := boxoffice.New(boxoffice.Options{URL: service.URL, APIKey: boxoffice.NewSecret("svc_0f7e440556fe905a_...")})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer client.Close()
	account, err := client.Billing.Get(context.Background())
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(account.Balance.Micros, account.Admitted)
	// Output: $20.000000 true
}

// Sentinels say what a failure is, and the error has the details.
func ExampleError() {
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusConflict)
		fmt.Fprint(w, `{"error":"this is the last working key","code":"would_stop_service"}`)
	}))
	defer service.Close()
	client, err := boxoffice.New(boxoffice.Options{URL: service.URL, APIKey: boxoffice.NewSecret("svc_0f7e440556fe905a_...")})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer client.Close()
	err = client.Keys.Revoke(context.Background(), boxoffice.RevokeKey{ID: "0f7e440556fe905a"})
	var details *boxoffice.Error
	if errors.Is(err, boxoffice.ErrPrecondition) && errors.As(err, &details) {
		fmt.Println(details.Reason == boxoffice.ReasonWouldStopService, details.Code)
	}
	// Output: true 409
}

// A mistake is found before anything is sent.
func ExampleNew_invalid() {
	_, err := boxoffice.New(boxoffice.Options{URL: "boxoffice.example"})
	fmt.Println(errors.Is(err, boxoffice.ErrInvalid), err)
	// Output: true boxoffice: URL must begin with http:// or https://
}

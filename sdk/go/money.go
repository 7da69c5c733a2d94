package boxoffice

import "fmt"

// Micros is an amount of money in millionths of a US dollar.
type Micros int64

// String is the amount in dollars with six decimals, such as -$0.000009.
func (m Micros) String() string {
	sign, amount := "", uint64(m)
	if m < 0 {
		sign, amount = "-", -amount
	}
	return fmt.Sprintf("%s$%d.%06d", sign, amount/1_000_000, amount%1_000_000)
}

// Amount is an amount of money.
type Amount struct {
	// Millionths of a US dollar.
	Micros Micros `json:"micros"`
	// The same for people, such as -$0.000009.
	Display string `json:"display"`
}

// Package drivertest has for tests what gocql and the fork of ScyllaDB (build tag scylladb, see docs/why/driver.md)
// name differently.
package drivertest

import (
	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/internal/driver"
)

// MarshalError is the error of the driver for a value that is not of the type of its column.
func MarshalError() error {
	_, err := gocql.Marshal(driver.NativeType(gocql.TypeInt), "no number")
	return err
}

// UnmarshalError is the error of the driver for bytes that are no value of their type.
func UnmarshalError() error {
	var n int
	return gocql.Unmarshal(driver.NativeType(gocql.TypeInt), []byte{1, 2, 3, 4, 5, 6, 7, 8, 9}, &n)
}

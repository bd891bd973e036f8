package client

import "encoding/json"

// Decimal is an amount with all its digits.
type Decimal = json.Number

// NullableDecimal is an amount or null. openapi-generator leaves it to whoever names a type for numbers.
type NullableDecimal struct{ value *Decimal }

func (v NullableDecimal) Get() *Decimal                    { return v.value }
func (v NullableDecimal) IsSet() bool                      { return true }
func (v *NullableDecimal) Set(value *Decimal)              { v.value = value }
func (v *NullableDecimal) UnmarshalJSON(text []byte) error { return json.Unmarshal(text, &v.value) }

package murmur3

import (
	"encoding/hex"
	"testing"
)

// The tokens are what Cassandra 5.0 says to SELECT token(key) of a blob.
func TestToken(t *testing.T) {
	t.Parallel()
	for text, want := range tokens {
		key, err := hex.DecodeString(text)
		if err != nil {
			t.Fatal(err)
		}
		if got := Token(key); got != want {
			t.Errorf("%s: %d, want %d", text, got, want)
		}
	}
}

var tokens = map[string]int64{
	"4b":                                 -2875471597373478633,
	"dbc1":                               -2353126098892494000,
	"084fed":                             -4206010214243513375,
	"e52d9c50":                           -1376737950036019220,
	"e77b9a9ae9":                         -3399900875828174684,
	"67586e98fad2":                       4203719126590847865,
	"ca358758f6d27e":                     2945755935994592896,
	"beead77994cf5733":                   8231370041699932350,
	"2b4c342f5433ebe591":                 517469329705977383,
	"01ba4719c80b6fe911b0":               9181668386745509731,
	"e7cf46a078fed4fafd0b5e":             6987540734006488170,
	"ef6cbd2161eaea7943ce8693":           -2234312480554275797,
	"9d1e0e2d9459d06523ad13e28a":         -4783444364825721116,
	"4d7b3ef7300acf70c892d8327db8":       -7116426711545646030,
	"dc0e9c3658a1a3ed1ec94274d8b199":     -470921649649430035,
	"c555eab45d08845ae9f10d452a99bfcb":   -1337330861826974239,
	"4a64a107f0cb32536e5bce6c98c393db21": 2424257302719994241,
	"452ba1ddef80246c48be7690193c76c1d61185906be94010":                         4769050360859874344,
	"ffe679bb831c95b67dc17819c63c5090d221aac6f4c7bf530f594ab43d21fa":           4531869337691044361,
	"36a9e7f1c95b82ffb99743e0c5c4ce95d83c9a430aac59f84ef3cbfab6145068":         2239256666430161713,
	"bb7208bc9b5d7c04f1236a82a0093a5e33f40423d5ba8d4266f7092c3ba43b62bb":       257611949016227258,
	"09fc96082d34c2dfc1295d92073b5ea1dc8ef8da95f14dfded011ffb96d3e54b09fc9608": -3726625715670943333,
}

package slots_test

import "flag"

var long = flag.Bool("long", false, "run loads at full length")

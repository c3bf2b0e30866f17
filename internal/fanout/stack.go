package fanout

// growStack gives the goroutine a stack of 4 KiB, in which a request of gocql just fits. It would begin with 2 KiB, and
// grow in the depth of gocql, where all frames have to be copied; done while there is only one, that costs a tenth.
//
//go:noinline
func growStack() { _ = room(false) }

// room needs more than the 2 KiB, although it does nothing.
//
//go:noinline
func room(use bool) byte {
	if !use {
		return 0
	}
	var stack [2500]byte
	for i := range stack {
		stack[i] = byte(i)
	}
	return stack[int(stack[5])]
}

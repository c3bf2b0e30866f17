// Package gobscan counts what a gob stream would make a decoder allocate, before it does. A byte of a stream can stand for
// an element of a slice, however large an element is in memory, and encoding/gob has no limit that could be set.
package gobscan

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// Elements counts the elements of all slices and arrays in the first value of a stream, those of byte slices excepted. It
// rejects what this module does not store: values of other types than structs, slices, arrays and basic ones.
func Elements(stream []byte) (int, error) {
	s := scanner{rest: stream, types: bootstrap()}
	for {
		size := s.size()
		after := s.rest[size:]
		s.rest = s.rest[:size]
		id := s.int()
		if id >= 0 {
			s.value(id)
			// What is left over would have been read otherwise than gob reads it.
			if s.failed || len(s.rest) > 0 || !s.types[id].isStruct {
				return 0, errStream
			}
			return s.elements, nil
		}
		s.define(-id)
		switch {
		case s.defined > maxDefined:
			return 0, errDefined
		case s.failed:
			return 0, errStream
		}
		s.rest = after
	}
}

var (
	errStream  = errors.New("not a gob stream of plain data")
	errDefined = fmt.Errorf("a gob stream that defines more than %d types and fields", maxDefined)
)

// maxDefined bounds what a stream defines: what this module stores takes less than a hundred, and a field of a byte costs the decoder
// more than two hundred.
const maxDefined = 500

// typ is a type that a stream defines, or that every stream knows.
type typ struct {
	skip     func(s *scanner) // passes over a value of the type
	isStruct bool
}

// bootstrap are the types that every stream knows, by the numbers that package encoding/gob documents.
func bootstrap() map[int64]typ {
	number, bytes := typ{skip: func(s *scanner) { s.uint() }}, typ{skip: (*scanner).skip}
	const boolType, intType, uintType, floatType, bytesType, stringType = 1, 2, 3, 4, 5, 6
	return map[int64]typ{
		boolType: number, intType: number, uintType: number, floatType: number, bytesType: bytes, stringType: bytes,
	}
}

// maxDepth bounds the recursion: the types of this module are nested three deep, and a stream can define one that holds itself.
const maxDepth = 16

// scanner reads a stream, a message at a time.
type scanner struct {
	rest     []byte // of the message
	types    map[int64]typ
	elements int
	defined  int // types, and fields of structs
	depth    int
	failed   bool
}

func (s *scanner) uint() uint64 {
	if len(s.rest) == 0 {
		s.failed = true
		return 0
	}
	first := s.rest[0]
	s.rest = s.rest[1:]
	if first < 0x80 {
		return uint64(first)
	}
	n := -int(int8(first)) // the number of bytes that follow, negated
	if n > 8 || n > len(s.rest) {
		s.failed = true
		return 0
	}
	var whole [8]byte
	copy(whole[8-n:], s.rest[:n])
	s.rest = s.rest[n:]
	return binary.BigEndian.Uint64(whole[:])
}

func (s *scanner) int() int64 {
	u := s.uint()
	if u&1 != 0 {
		return ^int64(u >> 1)
	}
	return int64(u >> 1)
}

// size reads the length of something of which each part takes a byte at least.
func (s *scanner) size() int {
	n := s.uint()
	if n > uint64(len(s.rest)) {
		s.failed = true
		return 0
	}
	return int(n)
}

// skip passes over bytes or a string.
func (s *scanner) skip() { s.rest = s.rest[s.size():] }

// each calls field for every field of a struct that is there.
func (s *scanner) each(field func(n int64)) {
	for n := int64(-1); !s.failed; {
		delta := s.uint()
		if delta == 0 {
			return
		}
		if n += int64(delta); n < 0 || delta > 1<<16 {
			s.failed = true
			return
		}
		field(n)
	}
}

// value passes over a value of the type.
func (s *scanner) value(id int64) {
	if s.depth++; s.depth > maxDepth {
		s.failed = true
	}
	t, known := s.types[id]
	if s.failed = s.failed || !known; !s.failed {
		t.skip(s)
	}
	s.depth--
}

// skipSlice passes over a slice or an array, and counts its elements.
func (s *scanner) skipSlice(elem int64) {
	n := s.size()
	s.elements += n
	for ; n > 0 && !s.failed; n-- {
		s.value(elem)
	}
}

func (s *scanner) skipStruct(fields []int64) {
	s.each(func(n int64) {
		if s.failed = s.failed || n >= int64(len(fields)); !s.failed {
			s.value(fields[n])
		}
	})
}

// define reads the definition of a type. Its layout is that of wireType in package encoding/gob. A type that is several kinds
// at once, or defined twice, is rejected: gob takes the kind that it expects, and that could be another one than is counted here. So is
// what is more than maxDefined, before it is read.
func (s *scanner) define(id int64) {
	var t typ
	_, known := s.types[id]
	s.count(1)
	s.each(func(n int64) {
		if known || t.skip != nil {
			s.failed = true
			return
		}
		switch n {
		case 0, 1: // an array, or a slice: name and number, the type of its elements, the length of an array
			var elem int64
			s.each(func(n int64) {
				switch n {
				case 0:
					s.common()
				case 1:
					elem = s.int()
				default:
					s.int()
				}
			})
			t.skip = func(s *scanner) { s.skipSlice(elem) }
		case 2: // a struct: name and number, fields
			var fields []int64
			s.each(func(n int64) {
				if n == 0 {
					s.common()
					return
				}
				left := s.size()
				for s.count(left); left > 0 && !s.failed; left-- {
					fields = append(fields, s.common())
				}
			})
			t = typ{func(s *scanner) { s.skipStruct(fields) }, true}
		default:
			s.failed = true
		}
	})
	if s.failed = s.failed || t.skip == nil; !s.failed {
		s.types[id] = t
	}
}

// count counts what is defined.
func (s *scanner) count(n int) {
	if s.defined += n; s.defined > maxDefined {
		s.failed = true
	}
}

// common reads a name and the number of a type.
func (s *scanner) common() (id int64) {
	s.each(func(n int64) {
		if n == 0 {
			s.skip()
			return
		}
		id = s.int()
	})
	return id
}

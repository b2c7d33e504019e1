package chunk

import (
	"sync"

	"github.com/klauspost/compress/zstd"
)

// Encoders are pooled: each has tables of some MiB.
var (
	quick    = encoders(zstd.SpeedFastest)           // while somebody waits
	thorough = encoders(zstd.SpeedBetterCompression) // while nobody does
)

func encoders(level zstd.EncoderLevel) *sync.Pool {
	return &sync.Pool{New: func() any {
		e, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(level), zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(Size),
			zstd.WithSingleSegment(true), zstd.WithEncoderCRC(false)) // our sums are better
		if err != nil {
			panic("chunk: " + err.Error()) // these options are constant
		}
		return e
	}}
}

// compress appends the frame of p to dst.
func compress(with *sync.Pool, dst, p []byte) []byte {
	e := with.Get().(*zstd.Encoder)
	defer with.Put(e)
	return e.EncodeAll(p, dst)
}

// worthwhile reports whether now is at least a tenth less than before.
func worthwhile(now, before int) bool { return now <= before-(before+9)/10 }

// decoders start no goroutines, and write no more than fits the slice that they are given.
var decoders = sync.Pool{New: func() any {
	d, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true),
		zstd.WithDecoderMaxWindow(Size), zstd.WithDecoderMaxMemory(Size), zstd.WithDecodeAllCapLimit(true))
	if err != nil {
		panic("chunk: " + err.Error())
	}
	return d
}}

// decompress fills p from a frame. It reports false if the frame does not hold exactly len(p) bytes.
func decompress(frame, p []byte) bool {
	d := decoders.Get().(*zstd.Decoder)
	defer decoders.Put(d)
	out, err := d.DecodeAll(frame, p[:0:len(p)])
	if err != nil || len(out) != len(p) {
		return false
	}
	if len(p) > 0 && &out[0] != &p[0] {
		copy(p, out)
	}
	return true
}

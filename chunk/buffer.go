package chunk

import "sync"

// A buffer has room for one chunk.
type buffer [Size]byte

// buffers holds those that are not in use.
var buffers = sync.Pool{New: func() any { return new(buffer) }}

func takeBuffer() *buffer  { return buffers.Get().(*buffer) }
func giveBuffer(b *buffer) { buffers.Put(b) }

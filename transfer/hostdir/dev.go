package hostdir

// The store keeps device numbers in the encoding of Linux, wherever they come from: 32 bits of major and minor each,
// the low ones where they always were.

// MakeDev makes the number of a device.
func MakeDev(major, minor int64) uint64 {
	a, i := uint64(major), uint64(minor)
	return (a&0x00000fff)<<8 | (a&0xfffff000)<<32 | i&0xff | (i&0xffffff00)<<12
}

// DevMajor returns the first part of the number of a device.
func DevMajor(dev uint64) int64 { return int64(dev>>8&0x00000fff | dev>>32&0xfffff000) }

// DevMinor returns the second part of the number of a device.
func DevMinor(dev uint64) int64 { return int64(dev&0x000000ff | dev>>12&0xffffff00) }

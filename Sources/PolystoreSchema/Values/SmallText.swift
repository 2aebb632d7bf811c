/// Creates strings of at most fifteen ASCII bytes directly from two words.
///
/// Swift stores such a string inline: fifteen bytes, followed by 0xE0 with the count. The regular decoding validates, branches, and copies
/// through five functions and takes five times as long, which is a tenth of the time of reading objects with short strings. The layout is
/// that of 64-bit platforms (stdlib/public/core/StringObject.swift). It is compared with actual strings on first use; if it differs, this
/// type creates no strings.
enum SmallText {
    /// Returns the string with the given bytes, or nil if a byte is not ASCII.
    @inline(__always)
    static func string(_ start: UnsafeRawPointer, _ count: Int) -> String? {
        guard isLayoutKnown else { return nil }
        let (low, high) = words(start, count)
        guard (low | high) & 0x8080_8080_8080_8080 == 0 else { return nil }
        return make(low, high, count)
    }

    @inline(__always)
    private static func make(_ low: UInt64, _ high: UInt64, _ count: Int) -> String {
        unsafeBitCast((low, high | (0xE0 | UInt64(truncatingIfNeeded: count)) &<< 56), to: String.self)
    }

    /// Loads up to fifteen bytes in memory order, followed by zeros. No bytes outside the range are read.
    @inline(__always)
    private static func words(_ start: UnsafeRawPointer, _ count: Int) -> (UInt64, UInt64) {
        if count >= 8 {
            let last = start.loadUnaligned(fromByteOffset: count &- 8, as: UInt64.self)
            // The last eight bytes overlap the first eight by 16 - count bytes, which are shifted out.
            let high = count == 8 ? 0 : last &>> UInt64(truncatingIfNeeded: 8 &* (16 &- count))
            return (start.loadUnaligned(as: UInt64.self), high)
        }
        if count >= 4 {
            let last = UInt64(start.loadUnaligned(fromByteOffset: count &- 4, as: UInt32.self))
            return (UInt64(start.loadUnaligned(as: UInt32.self)) | last &<< UInt64(truncatingIfNeeded: 8 &* (count &- 4)), 0)
        }
        var low: UInt64 = 0
        for index in 0..<count {
            low |= UInt64(start.load(fromByteOffset: index, as: UInt8.self)) &<< UInt64(truncatingIfNeeded: 8 &* index)
        }
        return (low, 0)
    }

    private static let isLayoutKnown: Bool = {
        guard MemoryLayout<String>.size == 16, MemoryLayout<String>.alignment == 8, 1.littleEndian == 1 else { return false }
        let sample: [UInt8] = Array("a~ 0Z/\u{1}\u{7F}mnopqrs".utf8)
        return (0...15).allSatisfy { count in
            let text = String(decoding: sample.prefix(count), as: UTF8.self)
            let expected = unsafeBitCast(text, to: (UInt64, UInt64).self)
            let (low, high) = sample.withUnsafeBytes { bytes in bytes.baseAddress.map { words($0, count) } ?? (0, 0) }
            return expected == (low, high | (0xE0 | UInt64(count)) << 56)
        }
    }()
}

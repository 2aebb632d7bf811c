/// The offsets of a time zone in a file of the tz database (RFC 9636): a list of changes, and a rule for the time after the last one.
struct ZoneFile: Sendable {
    private let times: [Int64]
    /// The offset that begins at the time with the same position.
    private let offsets: [Int32]
    /// The offset before the first change.
    private let first: Int32
    private let rule: ZoneRule?

    /// Reads a file, of which only the block with times of 64 bits is used. Returns nil for other contents.
    init?(_ bytes: [UInt8]) {
        guard let old = Header(bytes[...]), let new = Header(bytes.dropFirst(Header.size + old.length(timeSize: 4))), new.typeCount > 0
        else { return nil }
        let block = bytes.dropFirst(2 * Header.size + old.length(timeSize: 4)), length = new.length(timeSize: 8)
        guard block.count >= length else { return nil }
        func number<Number: FixedWidthInteger>(_ position: Int, as type: Number.Type) -> Number {
            block.dropFirst(position).prefix(MemoryLayout<Number>.size).reduce(0) { $0 << 8 | Number(truncatingIfNeeded: $1) }
        }
        let kinds = new.timeCount * 9
        let offsetsOfTypes = (0..<new.typeCount).map { number(kinds + 6 * $0, as: Int32.self) }
        let types = block.dropFirst(new.timeCount * 8).prefix(new.timeCount).map(Int.init)
        guard types.allSatisfy({ $0 < offsetsOfTypes.count }) else { return nil }
        times = (0..<new.timeCount).map { number(8 * $0, as: Int64.self) }
        offsets = types.map { offsetsOfTypes[$0] }
        first = offsetsOfTypes[0]
        let footer = block.dropFirst(length).split(separator: UInt8(ascii: "\n"))
        rule = footer.first.flatMap { ZoneRule(String(decoding: $0, as: UTF8.self)) }
    }

    /// Returns the difference to UTC in seconds.
    func offset(at time: Int) -> Int {
        guard let last = times.last, time < last else { return rule?.offset(at: time) ?? Int(offsets.last ?? first) }
        // The number of changes until the time.
        var low = 0, high = times.count
        while low < high {
            let middle = (low + high) / 2
            if times[middle] <= time { low = middle + 1 } else { high = middle }
        }
        return Int(low == 0 ? first : offsets[low - 1])
    }

    private struct Header {
        static let size = 44
        let timeCount: Int, typeCount: Int
        private let utcCount: Int, standardCount: Int, leapCount: Int, textLength: Int

        init?(_ bytes: ArraySlice<UInt8>) {
            guard bytes.count >= Self.size, bytes.starts(with: "TZif".utf8), bytes[bytes.startIndex + 4] >= UInt8(ascii: "2") else {
                return nil
            }
            let counts = (0..<6).map { bytes.dropFirst(20 + 4 * $0).prefix(4).reduce(0) { $0 << 8 | Int($1) } }
            (utcCount, standardCount, leapCount) = (counts[0], counts[1], counts[2])
            (timeCount, typeCount, textLength) = (counts[3], counts[4], counts[5])
        }

        /// Returns the length of the block behind the header.
        func length(timeSize: Int) -> Int {
            timeCount * (timeSize + 1) + typeCount * 6 + textLength + leapCount * (timeSize + 4) + standardCount + utcCount
        }
    }
}

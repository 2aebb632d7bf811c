/// The symbols of a program or library in the 64-bit ELF format (System V ABI, chapter 4). Nothing that the file contains is trusted.
struct SymbolTable {
    private static let symbolSection: UInt32 = 2, loadedSegment: UInt32 = 1, symbolSize = 24

    private let bytes: UnsafeRawBufferPointer

    /// Creates a view of the bytes of a file, which must outlive it.
    init(_ bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

    /// Returns the names of the symbols of what is at a position in the file.
    func symbols(ofCodeAt position: UInt64) -> [String] {
        // A 64-bit file in little-endian order.
        guard bytes.starts(with: [0x7F, 0x45, 0x4C, 0x46, 2, 1]), let wanted = address(of: position) else { return [] }
        guard let (symbols, linked) = sections.first(where: { $0.type == Self.symbolSection }).map({ ($0.range, $0.link) }),
            let names = sections.dropFirst(Int(linked)).first?.range
        else { return [] }
        var found: [String] = []
        for offset in stride(from: symbols.lowerBound, to: symbols.upperBound - Self.symbolSize + 1, by: Self.symbolSize) {
            guard let value: UInt64 = load(offset + 8), value == wanted, let name: UInt32 = load(offset) else { continue }
            found.append(text(names.lowerBound + Int(name), in: names))
        }
        return found
    }

    /// Returns the address that the file gives to what is at a position in it.
    private func address(of position: UInt64) -> UInt64? {
        guard let table: UInt64 = load(0x20), let size: UInt16 = load(0x36), let count: UInt16 = load(0x38),
            let start = Int(exactly: table), start <= bytes.count
        else { return nil }
        for index in 0..<Int(count) {
            let header = start + index * Int(size)
            guard let type: UInt32 = load(header), let offset: UInt64 = load(header + 8), let address: UInt64 = load(header + 0x10),
                let length: UInt64 = load(header + 0x20)
            else { return nil }
            if type == Self.loadedSegment, offset <= position, position - offset < length { return address &+ (position - offset) }
        }
        return nil
    }

    private typealias Section = (type: UInt32, range: Range<Int>, link: UInt32)

    private var sections: [Section] {
        guard let table: UInt64 = load(0x28), let size: UInt16 = load(0x3A), let count: UInt16 = load(0x3C) else { return [] }
        return (0..<Int(count)).compactMap { index -> Section? in
            guard let start = Int(exactly: table), start <= bytes.count else { return nil }
            let header = start + index * Int(size)
            guard let type: UInt32 = load(header + 4), let offset: UInt64 = load(header + 0x18), let length: UInt64 = load(header + 0x20),
                let link: UInt32 = load(header + 0x28)
            else { return nil }
            let (end, isOver) = offset.addingReportingOverflow(length)
            let isInside = !isOver && end <= UInt64(bytes.count)
            return (type, isInside ? Int(offset)..<Int(end) : 0..<0, link)
        }
    }

    private func text(_ start: Int, in section: Range<Int>) -> String {
        guard section.contains(start) else { return "" }
        return String(decoding: bytes[start..<section.upperBound].prefix { $0 != 0 }, as: UTF8.self)
    }

    private func load<Number: BitwiseCopyable>(_ offset: Int) -> Number? {
        guard offset >= 0, offset <= bytes.count - MemoryLayout<Number>.size else { return nil }
        return bytes.loadUnaligned(fromByteOffset: offset, as: Number.self)
    }
}

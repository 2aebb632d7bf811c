import PolystoreKeyValue
import Testing

/// Expected values are those of RFC 3720, appendix B.4, and of the check value of CRC-32C ("123456789").
@Suite struct ChecksumTests {
    private func both(_ bytes: [UInt8]) -> [UInt32] {
        bytes.withUnsafeBytes { bytes in
            bytes.baseAddress.map { [Checksum.crc32c($0, bytes.count), Checksum.byTables($0, bytes.count)] } ?? []
        }
    }

    @Test func knownChecksums() {
        #expect(both(Array("123456789".utf8)) == [0xe306_9283, 0xe306_9283])
        #expect(both([UInt8](repeating: 0, count: 32)) == [0x8a91_36aa, 0x8a91_36aa])
        #expect(both([UInt8](repeating: 0xff, count: 32)) == [0x62a8_ab43, 0x62a8_ab43])
        #expect(both(Array(0..<32)) == [0x46dd_794e, 0x46dd_794e])
    }

    /// A file that one processor has written is read by another.
    @Test func theInstructionAndTheTablesAgreeAtEveryLengthAndPlace() {
        let bytes = (0..<100).map { UInt8(truncatingIfNeeded: $0 &* 37 &+ 11) }
        for start in 0..<9 {
            for end in start + 1...bytes.count {
                let sums = both(Array(bytes[start..<end]))
                #expect(sums[0] == sums[1], "\(start)..<\(end)")
            }
        }
    }
}

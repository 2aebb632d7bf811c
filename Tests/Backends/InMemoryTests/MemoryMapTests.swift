import Foundation
import PolystoreStorage
import Testing

@testable import PolystoreInMemory

@Suite struct MemoryMapTests {
    /// A map once took a page of sixteen kilobytes for each transaction that added one row.
    @Test func manySmallTransactionsShareTheirPages() {
        var map = MemoryMap()
        for generation in 1...5_000 {
            let key = (0..<4).map { UInt8(truncatingIfNeeded: generation >> (24 - 8 * $0)) }
            key.withUnsafeBytes { key in
                map.put(key, 8, generation).storeBytes(of: Int64(generation), as: Int64.self)
            }
        }
        #expect(map.count == 5_000)
        #expect(map.pages.count < 20)
        for generation in [1, 2_500, 5_000] {
            let key = (0..<4).map { UInt8(truncatingIfNeeded: generation >> (24 - 8 * $0)) }
            let value = key.withUnsafeBytes { map.get($0)?.loadUnaligned(as: Int64.self) }
            #expect(value == Int64(generation))
        }
    }

    @Test func aSnapshotKeepsWhatItSaw() {
        var map = MemoryMap()
        let one: [UInt8] = [1], two: [UInt8] = [2]
        one.withUnsafeBytes { _ = map.put($0, 0, 1) }
        let snapshot = map
        two.withUnsafeBytes { _ = map.put($0, 0, 2) }
        #expect(two.withUnsafeBytes { snapshot.get($0) } == nil)
        #expect(two.withUnsafeBytes { map.get($0) } != nil)
        #expect(snapshot.count == 1 && map.count == 2)
    }
}

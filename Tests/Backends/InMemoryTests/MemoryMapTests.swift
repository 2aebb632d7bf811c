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
        #expect(map.segments.reduce(0) { $0 + $1.pages.count } < 20)
        for generation in [1, 2_500, 5_000] {
            let key = (0..<4).map { UInt8(truncatingIfNeeded: generation >> (24 - 8 * $0)) }
            let value = key.withUnsafeBytes { map.get($0)?.loadUnaligned(as: Int64.self) }
            #expect(value == Int64(generation))
        }
    }

    @Test func aSnapshotIsUnchangedByLaterTransactions() {
        var map = MemoryMap()
        let one: [UInt8] = [1], two: [UInt8] = [2]
        one.withUnsafeBytes { _ = map.put($0, 0, 1) }
        let snapshot = map
        two.withUnsafeBytes { _ = map.put($0, 0, 2) }
        #expect(two.withUnsafeBytes { snapshot.get($0) } == nil)
        #expect(two.withUnsafeBytes { map.get($0) } != nil)
        #expect(snapshot.count == 1 && map.count == 2)
    }

    private func put(_ map: inout MemoryMap, _ number: Int, _ size: Int, _ generation: Int) {
        withUnsafeBytes(of: number.bigEndian) { key in
            _ = map.put(key, size, generation).initializeMemory(
                as: UInt8.self, repeating: UInt8(truncatingIfNeeded: generation), count: size)
        }
    }

    /// A commit once copied the list of all pages.
    @Test func aTransactionCopiesTheSegmentsThatItTouches() {
        var map = MemoryMap()
        for number in 0..<20_000 { put(&map, number, 1_000, 1) }
        #expect(map.segments.count > 5)
        let before = Set(map.segments.map(ObjectIdentifier.init))
        put(&map, 10_000, 1_000, 2)
        // Two where the one was full.
        #expect((1...2).contains(map.segments.count { !before.contains(ObjectIdentifier($0)) }))
    }

    /// Random changes in many transactions, beside a dictionary; snapshots in between stay as they were.
    @Test func randomChangesEqualThoseOfADictionary() {
        var generator = SystemRandomNumberGenerator(), map = MemoryMap(), expected: [Int: (size: Int, generation: Int)] = [:]
        var snapshots: [(map: MemoryMap, expected: [Int: (size: Int, generation: Int)])] = []
        for generation in 1...60 {
            for _ in 0..<400 {
                let number = Int.random(in: 0..<6_000, using: &generator)
                if Int.random(in: 0..<4, using: &generator) == 0 {
                    let wasThere = withUnsafeBytes(of: number.bigEndian) { map.delete($0, generation) }
                    #expect(wasThere == (expected.removeValue(forKey: number) != nil))
                } else {
                    let size = Bool.random(using: &generator) ? 2_000 : Int.random(in: 0..<20_000, using: &generator)
                    put(&map, number, size, generation)
                    expected[number] = (size, generation)
                }
            }
            if generation % 15 == 0 { snapshots.append((map, expected)) }
        }
        #expect(map.segments.count > 3)
        for (map, expected) in snapshots {
            #expect(map.count == expected.count)
            var position = withUnsafeBytes(of: 0) { map.seek($0) }, found: [Int] = []
            while let page = map.page(position) {
                let number = Int(bigEndian: page.key(position.index).loadUnaligned(as: Int.self)), value = page.value(position.index)
                found.append(number)
                #expect(value.count == expected[number]?.size)
                #expect(value.allSatisfy { $0 == UInt8(truncatingIfNeeded: expected[number]?.generation ?? -1) })
                position = map.next(position)
            }
            #expect(found == expected.keys.sorted())
        }
    }
}

import Testing

@testable import PolystoreObjects

@Suite struct MemberListTests {
    /// Counts how often keys are compared or hashed.
    private final class Counter {
        var steps = 0
    }

    private struct Key: Hashable {
        let number: Int
        let counter: Counter

        static func == (a: Key, b: Key) -> Bool {
            a.counter.steps += 1
            return a.number == b.number
        }

        func hash(into hasher: inout Hasher) {
            counter.steps += 1
            hasher.combine(number)
        }
    }

    @Test(arguments: [1_000, 20_000]) func addingAndRemovingTakesTheSameStepsForEachKey(_ count: Int) {
        let counter = Counter(), keys = (0..<count).map { Key(number: $0, counter: counter) }
        var list = MemberList<Key>(keys: [])
        for key in keys { list.append(key, rank: list.nextRank) }
        for key in keys where key.number % 3 != 0 { list.remove(key) }
        #expect(counter.steps < 40 * count)
        #expect(list.count == (count + 2) / 3)
        #expect(list.keys.map(\.number) == Array(stride(from: 0, to: count, by: 3)))
        #expect(list.ranks == list.ranks.sorted() && Set(list.ranks).count == list.count)
    }

    @Test func aListDoesWhatAnArrayDoes() {
        var random = SystemRandomNumberGenerator(), list = MemberList<Int>(keys: [1, 2, 3], ranks: [10, 20, 30])
        var keys = [1, 2, 3], ranks: [Int64] = [10, 20, 30]
        for _ in 0..<2_000 {
            let key = Int.random(in: 0..<20, using: &random), rank = list.nextRank ?? 0
            if Bool.random(using: &random) {
                list.append(key, rank: rank)
                if !keys.contains(key) {
                    keys.append(key)
                    ranks.append(rank)
                }
            } else {
                list.remove(key)
                if let index = keys.firstIndex(of: key) {
                    keys.remove(at: index)
                    ranks.remove(at: index)
                }
            }
            #expect(list.keys == keys && list.ranks == ranks && list.count == keys.count)
        }
    }

    @Test func thereIsNoRankAfterTheGreatest() {
        #expect(MemberList<Int>(keys: [1], ranks: [.max]).nextRank == nil)
        #expect(MemberList<Int>(keys: [1], ranks: [.max - Rank.gap]).nextRank == .max)
    }

    @Test(
        arguments: [
            [nil, .max], [.max, nil], [.min, nil, .max], [nil, .min], [.max - 1, nil, .max], [.min, .max, nil, nil], [nil, nil],
        ] as [[Int64?]]) func ranksRiseWhateverIsStored(_ known: [Int64?])
    {
        let ranks = Rank.assign(known)
        #expect(ranks.count == known.count)
        #expect(zip(ranks, ranks.dropFirst()).allSatisfy { $0 < $1 })
    }
}

internal import Foundation
internal import PolystoreStorage

/// Cases of group H: purging the history, and stores without one.
enum HistoryPurgeCases {
    static let all: [ConformanceCase] = purging + withoutHistory

    /// Performs five transactions and returns their tokens.
    private static func fill(_ scratch: Scratch) throws -> [HistoryToken] {
        try (0..<5).compactMap { number in
            try scratch.write { try scratch.insert("Tag", [["size": .int(Int64(number))]], $0) }
        }
    }

    @discardableResult
    private static func purge(
        _ scratch: Scratch, _ token: HistoryToken, _ body: (WriteSession) throws -> Void = { _ in }
    ) throws -> HistoryToken? {
        try purge(scratch) { writer in
            try writer.purgeHistory(through: token)
            try body(writer)
        }
    }

    @discardableResult
    private static func purge(_ scratch: Scratch, _ body: (WriteSession) throws -> Void) throws -> HistoryToken? {
        while true {
            // Other sessions on the same server begin and end: a session purges only up to its horizon.
            var seesAll = false
            let own = try scratch.write { writer in
                seesAll = try !writer.hasUnsettledHistory()
                if !seesAll { return }
                try body(writer)
            }
            if seesAll { return own }
        }
    }

    private static let purging: [ConformanceCase] = [
        HistoryScene.historyCase("H008.a-token-from-before-a-purge-has-expired", "H4") { scratch, check in
            let tokens = try fill(scratch)
            try purge(scratch, tokens[2])
            check.throwing(.tokenExpired, "the first") { _ = try scratch.history(since: tokens[0]) }
            check.throwing(.tokenExpired, "the one before") { _ = try scratch.history(since: tokens[1]) }
            check.equal(try scratch.history(since: tokens[2]).map(\.token), Array(tokens[3...]), "after the token of the purge")
            check.equal(try scratch.history().map(\.token), Array(tokens[3...]), "from the oldest retained entry")
        },
        HistoryScene.historyCase("H009.a-purge-keeps-what-is-later", "H4") { scratch, check in
            let tokens = try fill(scratch)
            try purge(scratch, tokens[1])
            check.equal(try scratch.history().map(\.token), Array(tokens[2...]), "after the first purge")
            try purge(scratch, tokens[3])
            // A token before the beginning changes nothing.
            try purge(scratch, tokens[0])
            check.equal(try scratch.history().map(\.token), [tokens[4]], "after the second")
            check.equal(try scratch.aggregate("Tag", .count, nil), .int(5), "objects")
        },
        HistoryScene.historyCase("H009.entries-from-the-future-hold-no-older-ones-back", "H4") { scratch, check in
            let day: Int64 = 86_400_000_000, now: Int64 = 1_500_000_000_000_000
            // The fourth and the sixth transaction are from the future, the fifth is too recent.
            let tokens = try [-90, 400, -60, 500, -10, 600, -50].compactMap { days in
                try scratch.write(time: now + days * day) { try scratch.insert("Tag", [[:]], $0) }
            }
            _ = try scratch.token()
            var outcome: HistoryPurge.Outcome?
            let purge = HistoryPurge(.olderThan(seconds: 30 * 86_400))
            try HistoryPurgeCases.purge(scratch) { writer in
                outcome = try purge.run(writer, now: Date(timeIntervalSince1970: 1_500_000_000))
            }
            check.equal(outcome?.removed, 3, "the number of those that went")
            check.equal(outcome?.through, tokens[2], "the newest of them")
            check.equal(try scratch.history().map(\.token).filter(tokens.contains), Array(tokens[3...]), "remaining entries")
        },
        HistoryScene.historyCase("H008.a-purge-of-everything", "H4") { scratch, check in
            let tokens = try fill(scratch)
            try purge(scratch, HistoryToken(store: tokens[0].store, position: .max))
            check.equal(try scratch.history().count, 0, "entries")
            check.throwing(.tokenExpired, "a token from before") { _ = try scratch.history(since: tokens[3]) }
            guard let now = try scratch.token() else { return check.isTrue(false, "a token of the empty history") }
            check.isTrue(now.position >= tokens[4].position, "it is the newest")
            let next = try scratch.write { try scratch.insert("Tag", [[:]], $0) }
            check.isTrue((next?.position ?? 0) > tokens[4].position, "positions go on")
            check.equal(try scratch.history(since: now).map(\.token), [next].compactMap { $0 }, "since then")
            // After a purge of this entry too, reading from the earlier token must fail, because the reader would miss the entry.
            if let next { try purge(scratch, next) }
            check.throwing(.tokenExpired, "the token of the empty history") { _ = try scratch.history(since: now) }
        },
        HistoryScene.historyCase("H008.a-purge-is-part-of-its-transaction", "H4") { scratch, check in
            let tokens = try fill(scratch)
            _ = try scratch.token()
            let writer = try scratch.store.beginWrite(WriteOptions())
            try writer.purgeHistory(through: tokens[4])
            writer.end()
            check.equal(try scratch.history(since: tokens[0]).count, 4, "after one that was given up")
            let last = try purge(scratch, tokens[4]) { try scratch.insert("Tag", [[:]], $0) }
            check.equal(try scratch.history().map(\.token), [last].compactMap { $0 }, "its own entry is kept")
        },
        HistoryScene.historyCase("H008.a-reader-keeps-its-history-through-a-purge", "H4") { scratch, check in
            let tokens = try fill(scratch)
            _ = try scratch.token()
            var reader = try scratch.store.beginRead()
            defer { reader.end() }
            // Other sessions on the same server may be writing now.
            while try reader.hasUnsettledHistory() {
                reader.end()
                reader = try scratch.store.beginRead()
            }
            try purge(scratch, tokens[4])
            check.equal(try reader.history(since: tokens[0], limit: 10).map(\.token), Array(tokens[1...]), "of its snapshot")
        },
        HistoryScene.historyCase("H008.a-purge-survives-closing", "H4", [.persistent]) { scratch, check in
            let tokens = try fill(scratch)
            try purge(scratch, tokens[4])
            try scratch.reopen()
            check.throwing(.tokenExpired, "a token from before") { _ = try scratch.history(since: tokens[3]) }
            check.equal(try scratch.history(since: tokens[4]).count, 0, "after the token of the purge")
            let next = try scratch.write { try scratch.insert("Tag", [[:]], $0) }
            check.isTrue((next?.position ?? 0) > tokens[4].position, "positions go on")
        },
    ]

    private static let withoutHistory: [ConformanceCase] = [
        ConformanceCase("H008.a-store-without-history-says-so", clause: "E4", needsAbsent: [.history]) { harness, check in
            try harness.withStore(HistoryScene.schema) { scratch in
                let token = try scratch.write { try scratch.insert("Item", [["name": .string("a")]], $0) }
                check.equal(token, nil, "the token of a commit")
                try scratch.delete("Item", [1])
                try scratch.read { reader in
                    check.equal(try reader.currentToken(), nil, "the newest token")
                    check.equal(try reader.hasUnsettledHistory(), false, "whether more is to come")
                    check.throwing(.unsupported, "history") { _ = try reader.history(since: nil, limit: 1) }
                }
                let some = HistoryToken(store: UUID(), position: 0)
                check.throwing(.unsupported, "purge") { try scratch.write { try $0.purgeHistory(through: some) } }
            }
        }
    ]
}

internal import Foundation
internal import PolystoreStorage

/// Cases of group N: stores report the changes of other programs.
enum WatchingCases {
    static let all: [ConformanceCase] = others + own + ends

    private static func watching(
        _ id: String, _ clause: String, _ body: @escaping @Sendable (WatchingScene, Check) throws -> Void
    ) -> ConformanceCase {
        ConformanceCase(id, clause: clause, needs: [.remoteChanges, .history, .persistent]) { harness, check in
            try WatchingScene.run(harness) { try body($0, check) }
        }
    }

    private static let others: [ConformanceCase] = [
        watching("N013.a-commit-of-another-instance-is-reported", "H8") { scene, check in
            let other = scene.other
            let watch = try scene.watch(check)
            for number in 1...3 {
                try other.perform(.insertion)
                guard scene.signals.comes(.history) else { return check.isTrue(false, "commit \(number) is delivered") }
            }
            watch?.cancel()
        },
        watching("N013.what-observers-need-not-know-is-not-unknown", "H8") { scene, check in
            let other = scene.other
            let watch = try scene.watch(check)
            for _ in 0..<3 {
                try other.perform(.quiet)
                try other.perform(.insertion)
                try other.perform(.quiet)
            }
            check.isTrue(scene.signals.comes(.history), "the entries")
            check.isTrue(!scene.signals.collected(for: 0.3).contains(.unknown), "the rest")
            watch?.cancel()
        },
        watching("N013.a-bulk-load-is-unknown", "H8") { scene, check in
            let other = scene.other
            let watch = try scene.watch(check)
            try other.perform(.load)
            guard scene.signals.comes(.unknown) else { return check.isTrue(false, "row changes are reported") }
            try other.perform(.tag)
            try other.perform(.pair)
            check.isTrue(scene.signals.comes(.unknown), "pairs")
            watch?.cancel()
        },
        watching("N013.a-load-between-commits-is-not-overlooked", "H8") { scene, check in
            let other = scene.other
            let watch = try scene.watch(check)
            for _ in 0..<5 {
                try other.perform(.insertion)
                try other.perform(.load)
                try other.perform(.insertion)
                check.isTrue(scene.signals.comes(.unknown), "the load")
                // Signals about the entries may arrive.
                _ = scene.signals.collected(for: 0.05)
            }
            watch?.cancel()
        },
        watching("N013.every-entry-is-found-after-a-signal", "H8") { scene, check in
            let other = scene.other
            let watch = try scene.watch(check), count = 200
            let start = try scene.scratch.read { try $0.currentToken() }
            for _ in 1...count { try other.perform(.insertion) }
            var token = start, found = 0
            while found < count, scene.signals.comes(.history) {
                try scene.scratch.read { reader in
                    for entry in try reader.history(since: token, limit: 1000) {
                        token = entry.token
                        found += 1
                    }
                }
            }
            check.equal(found, count, "entries")
            watch?.cancel()
        },
        watching("N013.a-migration-of-another-is-unknown", "H8") { scene, check in
            guard scene.scratch.store.capabilities.contains(.migrations) else { throw NothingToCheck("the store cannot be migrated") }
            let watch = try scene.watch(check)
            try scene.other.perform(.migration)
            check.isTrue(scene.signals.comes(.unknown), "the migration")
            watch?.cancel()
        },
    ]

    private static let own: [ConformanceCase] = [
        watching("N014.own-commits-are-not-unknown", "H8") { scene, check in
            let watch = try scene.watch(check)
            for number in 0..<20 {
                try scene.scratch.insert("Item", [["number": .int(Int64(number))]])
                try WatchingScene.load(scene.scratch, number % 5 + 1)
                try WatchingScene.writeQuietly(scene.scratch)
            }
            check.isTrue(!scene.signals.collected(for: 0.5).contains(.unknown), "signals")
            try scene.other.perform(.insertion)
            check.isTrue(scene.signals.comes(.history), "the watch reports a commit of the other")
            watch?.cancel()
        },
        watching("N014.others-are-seen-among-own-commits", "H8") { scene, check in
            let other = scene.other
            let watch = try scene.watch(check)
            for _ in 0..<5 {
                try WatchingScene.load(scene.scratch)
                try other.perform(.load)
                try scene.scratch.insert("Item", [["number": .int(1)]])
                check.isTrue(scene.signals.comes(.unknown), "the load of the other")
            }
            watch?.cancel()
        },
    ]

    private static let ends: [ConformanceCase] = [
        watching("N014.two-watches-are-independent", "H8") { scene, check in
            let other = scene.other
            let second = Signals(), one = try scene.watch(check), two = try scene.watch(check, second)
            try other.perform(.insertion)
            check.isTrue(scene.signals.comes(.history), "the first")
            check.isTrue(second.comes(.history), "the second")
            one?.cancel()
            let before = scene.signals.found
            try other.perform(.load)
            check.isTrue(second.comes(.unknown), "the second alone")
            check.equal(scene.signals.found, before, "the first, which was cancelled")
            two?.cancel()
        },
        watching("N014.nothing-is-reported-after-cancel", "H8") { scene, check in
            let other = scene.other
            let watch = try scene.watch(check), second = Signals()
            try other.perform(.insertion)
            watch?.cancel()
            watch?.cancel()
            let before = scene.signals.found
            let again = try scene.watch(check, second)
            try other.perform(.load)
            check.isTrue(second.comes(.unknown), "a watch that began later")
            check.equal(scene.signals.found, before, "the one that was cancelled")
            again?.cancel()
        },
        watching("N014.closing-ends-watches", "H8") { scene, check in
            let watch = try scene.watch(check)
            try scene.scratch.store.close()
            let before = scene.signals.found
            try scene.other.perform(.load)
            check.equal(scene.signals.collected(for: 0.2), before, "signals")
            watch?.cancel()
            check.throwing(.storeClosed, "a watch over a closed store") { _ = try scene.scratch.store.watchChanges { _ in } }
        },
        ConformanceCase("N014.a-store-that-cannot-tell-gives-no-watch", clause: "H8", needsAbsent: [.remoteChanges]) {
            harness, check in
            try harness.withStore { scratch in check.isTrue(try scratch.store.watchChanges { _ in } == nil, "no watch") }
        },
    ]
}

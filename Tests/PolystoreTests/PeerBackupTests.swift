import Foundation
import Polystore
import PolystoreStorage
import RawSessions
import TestStores
import Testing

/// Stores that committed together and were put back from backups of different lines of their history.
@Suite struct PeerBackupTests {
    /// Two stores in files, which are put back by copying the files.
    private final class Files {
        let kind: TestStore
        private let names = ["Left", "Right"].map { "polystore_lines_\($0)_\(UUID().uuidString.lowercased())" }
        /// Which of the two follows the other.
        private(set) var follower = 0
        private var copies: Set<String> = []

        init(_ kind: TestStore) throws {
            self.kind = kind
            try withStack { stack, stores in
                try write(1, stack)
                follower = try #require(
                    try stores.firstIndex { store in
                        let reader = try OpenStore(opened: store).beginRead()
                        defer { reader.end() }
                        return try !Peers(reader).known().isEmpty
                    })
            }
        }

        deinit {
            for index in 0...1 { try? make(index).erase() }
            for copy in copies { try? FileManager.default.removeItem(atPath: copy) }
        }

        var leader: Int { 1 - follower }

        private func path(_ index: Int) -> String {
            FileManager.default.temporaryDirectory.appendingPathComponent(names[index]).path + (kind == .sqlite ? ".db" : ".lmdb")
        }

        private func make(_ index: Int) -> any StorageInterface {
            kind.make(named: names[index], configuration: ["Left", "Right"][index])
        }

        func save(_ line: String) throws {
            for index in 0...1 {
                let copy = path(index) + "." + line
                copies.insert(copy)
                try FileManager.default.copyItem(atPath: path(index), toPath: copy)
            }
        }

        func putBack(_ line: String, _ indices: Int...) throws {
            for index in indices {
                try FileManager.default.removeItem(atPath: path(index))
                try FileManager.default.copyItem(atPath: path(index) + "." + line, toPath: path(index))
            }
        }

        func withStack(_ body: (DataStack, [any StorageInterface]) throws -> Void) throws {
            let stores = (0...1).map(make)
            let stack = try DataStack(
                schema: Schema(
                    entities: ["Left", "Right"].map { Entity($0, attributes: [Attribute("x", .int64)]) },
                    configurations: ["Left": ["Left"], "Right": ["Right"]]))
            for store in stores { try stack.addStorageAndWait(store) }
            try body(stack, stores)
            for store in stores { try stack.removeStorage(store) }
        }

        func write(_ number: Int64, _ stack: DataStack, _ indices: [Int] = [0, 1]) throws {
            try stack.perform(synchronous: { transaction in
                for index in indices {
                    try transaction.create(Into<DynamicObject>(entity: ["Left", "Right"][index])).setValue(.int(number), for: "x")
                }
            })
        }

        func numbers(_ index: Int, _ stack: DataStack) throws -> [Int64] {
            try stack.fetchAll(From<DynamicObject>(entity: ["Left", "Right"][index]).orderBy(.ascending("x"))).map { object in
                if case .int(let number) = try object.value("x") { number } else { -1 }
            }
        }
    }

    /// Two lines of transactions with the same numbers: the leader of one and the follower of the other have none of them in common.
    @Test(arguments: [TestStore.sqlite, .lmdb]) func backupsFromDifferentBranchesAreNotMixed(_ kind: TestStore) throws {
        let files = try Files(kind)
        try files.save("before")
        try files.withStack { stack, _ in for number in 2...3 { try files.write(Int64(number), stack) } }
        try files.save("first")
        // As many transactions in the other line, and one less, which would make that of the first line the next.
        for count in [2, 1] {
            try files.putBack("before", 0, 1)
            try files.withStack { stack, _ in for number in 0..<count { try files.write(Int64(30 + number), stack) } }
            try files.putBack("first", files.leader)
            try files.withStack { stack, stores in
                let other = [1] + (0..<count).map { Int64(30 + $0) }
                for indices in [[files.follower], [0, 1]] {
                    let error = #expect(throws: StorageError.self) { try files.write(8, stack, indices) }
                    #expect(error?.code == .peerDiverged, "\(count)")
                }
                #expect(try files.numbers(files.leader, stack) == [1, 2, 3])
                #expect(try files.numbers(files.follower, stack) == other)
                #expect(try stack.forgetPeers(of: stores[files.follower]).map(\.kind) == [.unknown])
                try files.write(9, stack)
                #expect(try files.numbers(files.leader, stack) == [1, 2, 3, 9])
                #expect(try files.numbers(files.follower, stack) == (other + [9]).sorted())
            }
        }
    }

    /// A leader that is put back lacks what its follower has; it is for the one that is asked to say so.
    @Test(arguments: [TestStore.sqlite, .lmdb]) func aRestoredLeaderReportsMissingTransactions(_ kind: TestStore) throws {
        let files = try Files(kind)
        try files.save("before")
        try files.withStack { stack, _ in for number in 2...3 { try files.write(Int64(number), stack) } }
        try files.putBack("before", files.leader)
        try files.withStack { stack, stores in
            let error = #expect(throws: StorageError.self) { try files.write(8, stack) }
            #expect(error?.code == .peerDiverged)
            #expect(try stack.forgetPeers(of: stores[files.leader]).map(\.kind) == [.lacks(2)])
            try files.write(9, stack)
            #expect(try files.numbers(files.leader, stack) == [1, 9])
            #expect(try files.numbers(files.follower, stack) == [1, 2, 3, 9])
        }
    }
}

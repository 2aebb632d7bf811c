import Foundation
import Polystore
import PolystoreCatalog
import Synchronization
import Testing

/// Programs that commit over two stores, of which the first can be slow to commit: nobody overtakes them, and no order of stores locks them.
@Suite(.serialized) struct JointCommitTests {
    /// 200 for the whole proof; fewer in every run of the tests.
    private static let kills = Int(ProcessInfo.processInfo.environment["POLYSTORE_TEST_KILLS"] ?? "") ?? 12

    private let folder = FileManager.default.temporaryDirectory.appendingPathComponent("polystore-joint-\(UUID().uuidString)")

    private func withFolder(_ body: () throws -> Void) throws {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        try body()
    }

    private func stack(_ urls: [String]) throws -> DataStack {
        let schema = try Schema(
            entities: [
                Entity("Left", attributes: [Attribute("x", .int64), Attribute("solo", .int64)]),
                Entity("Right", attributes: [Attribute("x", .int64), Attribute("solo", .int64)]),
            ], configurations: ["Left": ["Left"], "Right": ["Right"]])
        let stack = try DataStack(schema: schema)
        for (url, name) in zip(urls, ["Left", "Right"]) {
            try stack.addStorageAndWait(StoreCatalog.standard.store(at: StoreURL(url), configuration: name))
        }
        return stack
    }

    private func begin(_ urls: [String]) throws {
        let stack = try stack(urls)
        try stack.perform(synchronous: { transaction in
            for entity in ["Left", "Right"] {
                let object = try transaction.create(Into<DynamicObject>(entity: entity))
                try object.setValue(.int(0), for: "x")
                try object.setValue(.int(0), for: "solo")
            }
        })
        for store in stack.storages { try stack.removeStorage(store) }
    }

    private func numbers(_ stack: DataStack) throws -> (left: Int64, right: Int64, solo: Int64) {
        func number(_ entity: String, _ property: String) throws -> Int64 {
            guard case .int(let number)? = try stack.fetchOne(From<DynamicObject>(entity: entity))?.value(property) else { return -1 }
            return number
        }
        return (try number("Left", "x"), try number("Right", "x"), try number("Right", "solo"))
    }

    private func addSolo(_ stack: DataStack, to entity: String = "Right") throws {
        try stack.perform(
            timeout: .seconds(60),
            synchronous: { transaction in
                guard let object = try transaction.fetchOne(From<DynamicObject>(entity: entity)),
                    case .int(let number) = try object.value("solo")
                else { return }
                try object.setValue(.int(number + 1), for: "solo")
            })
    }

    @Test(arguments: [("sqlite", "sqlite"), ("lmdb", "lmdb"), ("sqlite", "lmdb")])
    func twoProgramsWithTheStoresInTwoOrdersBothCommit(_ left: String, _ right: String) throws {
        try withFolder {
            let urls = ["\(left):\(folder.path)/left", "\(right):\(folder.path)/right"]
            try begin(urls)
            let programs = try [[], ["reversed"]].map { try HelperProcess(["--joint"] + urls + $0) }
            for program in programs { #expect(program.lines(1) == ["ready"]) }
            for program in programs { program.say("joint 40") }
            for program in programs {
                let answers = program.lines(40)
                #expect(answers == Array(repeating: "ok", count: 40))
                program.endInput()
            }
            let stack = try stack(urls), found = try numbers(stack)
            #expect(found.left == 80 && found.right == 80)
            for store in stack.storages { try stack.removeStorage(store) }
        }
    }

    /// One program commits over two stores, while another forgets again and again that they are a pair.
    @Test(arguments: ["sqlite", "lmdb", "postgresql"]) func aPairingIsForgottenBesideAnotherProgram(_ left: String) throws {
        let server = left == "postgresql" ? OwnServer() : nil
        if left == "postgresql", server == nil { return }
        defer { server?.remove() }
        try withFolder {
            let urls = [server.map { $0.url + "&x-schema=left" } ?? "\(left):\(folder.path)/left", "sqlite:\(folder.path)/right"]
            try begin(urls)
            let stack = try stack(urls), program = try HelperProcess(["--joint"] + urls)
            let isDone = Mutex(false), failures = Mutex<[String]>([])
            #expect(program.lines(1) == ["ready"])
            let forgetting = Thread {
                while !isDone.withLock({ $0 }) {
                    for store in stack.storages {
                        do { try stack.forgetPeers(of: store) } catch { failures.withLock { $0.append("\(error)") } }
                        Thread.sleep(forTimeInterval: Double.random(in: 0...0.02))
                    }
                }
            }
            forgetting.start()
            program.say("joint 60")
            let answers = program.lines(60)
            isDone.withLock { $0 = true }
            while !forgetting.isFinished { Thread.sleep(forTimeInterval: 0.001) }
            program.endInput()
            #expect(Set(answers).isSubset(of: ["ok", "serializationFailure", "busy"]), "\(answers)")
            let found = try numbers(stack), done = answers.count { $0 == "ok" }
            #expect(done > 0 && found.left == done && found.right == done, "\(found) of \(done)")
            #expect(failures.withLock { $0 } == [])
            for store in stack.storages { try stack.removeStorage(store) }
        }
    }

    @Test(arguments: ["sqlite", "lmdb", "postgresql"]) func aCommitInProgressIsNotOvertaken(_ follower: String) throws {
        guard let server = OwnServer() else { return }
        defer { server.remove() }
        try withFolder {
            let urls = [
                server.url + "&x-schema=left",
                follower == "postgresql" ? server.url + "&x-schema=right" : "\(follower):\(folder.path)/right",
            ]
            try begin(urls)
            let other = try stack(urls)
            var acknowledged: (joint: Int64, solo: Int64) = (0, 0), late = 0, rounds = 0
            // Until a commit was on its way: otherwise nothing was tried. Two stores of one server wait for the standby when the second is
            // prepared, so that the first is not asked to commit before it is back.
            let canBeLate = follower != "postgresql"
            while rounds < Self.kills || late == 0 && canBeLate && rounds < 20 * Self.kills {
                rounds += 1
                let program = try HelperProcess(["--joint"] + urls)
                #expect(program.lines(1) == ["ready"])
                program.say("joint")
                if program.lines(1) == ["ok"] { acknowledged.joint += 1 }
                try server.setSlow(true)
                program.say("joint")
                Thread.sleep(forTimeInterval: Double.random(in: 0...0.04))
                program.kill()
                let before = try numbers(other).left
                // The commit may end while the other program writes, or before, or not have begun.
                let release = Thread { [server] in
                    Thread.sleep(forTimeInterval: Double.random(in: 0...0.05))
                    try? server.setSlow(false)
                }
                release.start()
                try addSolo(other)
                acknowledged.solo += 1
                while !release.isFinished { Thread.sleep(forTimeInterval: 0.001) }
                // Which of two servers commits first depends on their IDs. The other one has its part before the next write to it.
                if !canBeLate { try addSolo(other, to: "Left") }
                let after = try numbers(other)
                #expect(after.left == after.right, "half of a transaction is there")
                #expect(after.solo == acknowledged.solo, "an acknowledged write was written over")
                #expect(after.left >= acknowledged.joint)
                if after.left > before { late += 1 }
                acknowledged.joint = after.left
            }
            #expect(late > 0 || !canBeLate)
            for store in other.storages { try other.removeStorage(store) }
        }
    }
}

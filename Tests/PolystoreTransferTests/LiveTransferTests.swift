import Foundation
import Polystore
import PolystoreSQLite
import PolystoreStorage
import PolystoreTransfer
import Synchronization
import TestStores
import Testing

/// Transfers of stores that are written to meanwhile.
@Suite struct LiveTransferTests {
    /// A source and a target.
    struct Pair: CustomTestStringConvertible, Sendable {
        let source: TestStore
        let target: TestStore
        var testDescription: String { "\(source) to \(target)" }

        static let all = TestStore.all.flatMap { source in TestStore.all.map { Pair(source: source, target: $0) } }
        static let some = TestStore.all.enumerated().map { index, source in
            Pair(source: source, target: TestStore.all[(index + 1) % TestStore.all.count])
        }
    }

    /// Two stores and random transactions in one of them.
    private final class Stores {
        let schema: Schema
        let source: OpenStore
        let target: OpenStore
        private var seed: UInt64 = 17

        init(_ pair: Pair, _ objects: Int) throws {
            schema = try Schema(
                version: "1",
                entities: [
                    Entity(
                        "Team", attributes: [Attribute("name", .string)],
                        relationships: [
                            Relationship("people", to: "Person", .toManyOrdered, inverse: "team"),
                            Relationship("guests", to: "Person", .toManyOrdered),
                        ]),
                    Entity(
                        "Person",
                        attributes: [Attribute("name", .string), Attribute("age", .int64), Attribute("photo", .data, isOptional: true)],
                        relationships: [
                            Relationship("team", to: "Team", .toOne, inverse: "people"),
                            Relationship("partner", to: "Person", .toOne, inverse: "partnerOf"),
                            Relationship("partnerOf", to: "Person", .toOne, inverse: "partner"),
                            Relationship("tags", to: "Tag", .toMany, inverse: "people"),
                        ], indexes: [Index(["age"])], uniqueConstraints: [UniqueConstraint(["name"])]),
                    Entity("Worker", parent: "Person", attributes: [Attribute("wage", .decimal, isOptional: true)]),
                    Entity("Tag", relationships: [Relationship("people", to: "Person", .toMany, inverse: "tags")]),
                ])
            source = try OpenStore(opening: pair.source.make(), OpenRequest(schema: schema))
            target = try OpenStore(opening: pair.target.make(), OpenRequest(schema: schema))
            let stack = try stack(source)
            try stack.perform(synchronous: { transaction in
                for number in 0..<objects {
                    let entity = ["Team", "Person", "Worker", "Tag"][number < 8 ? number % 4 : 1 + number % 3]
                    let object = try transaction.create(Into<DynamicObject>(entity: entity))
                    if entity != "Tag" { try object.setValue(.string("n\(number)"), for: "name") }
                    if entity == "Person" || entity == "Worker" { try object.setValue(.int(Int64(number % 70)), for: "age") }
                }
            })
            for _ in 0..<20 { try change(stack) }
        }

        func stack(_ store: OpenStore) throws -> DataStack {
            let stack = try DataStack(schema: schema)
            stack.add(store)
            return stack
        }

        private func next(_ count: Int) -> Int {
            seed = seed &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int(seed >> 33) % max(count, 1)
        }

        /// Runs a random transaction.
        func change(_ stack: DataStack) throws {
            try stack.perform(synchronous: { transaction in
                var people = try transaction.fetchAll(From<DynamicObject>(entity: "Person"))
                let teams = try transaction.fetchAll(From<DynamicObject>(entity: "Team"))
                let tags = try transaction.fetchAll(From<DynamicObject>(entity: "Tag"))
                func person() -> DynamicObject { people[next(people.count)] }
                for _ in 0..<3 {
                    switch next(9) {
                    case 0:
                        let object = try transaction.create(Into<DynamicObject>(entity: next(2) == 0 ? "Person" : "Worker"))
                        try object.setValue(.string(UUID().uuidString), for: "name")
                        try object.setValue(.int(1), for: "age")
                        try object.setObject(teams[next(teams.count)], for: "team")
                    case 1: try person().setValue(.int(Int64(next(70))), for: "age")
                    case 2: try person().setObject(next(4) == 0 ? nil : teams[next(teams.count)], for: "team")
                    case 3: try person().setObject(person(), for: "partner")
                    case 4: try person().setObjects([tags[next(tags.count)], tags[next(tags.count)]], for: "tags")
                    case 5: try teams[next(teams.count)].setObjects([person(), person(), person()], for: "guests")
                    case 6:
                        // Two objects exchange unique values.
                        let (one, two) = (person(), person()), name = try one.value("name")
                        try one.setValue(two.value("name"), for: "name")
                        try two.setValue(name, for: "name")
                    case 7: try person().setValue(.data(Data(repeating: UInt8(next(256)), count: next(5000))), for: "photo")
                    default: if people.count > 20 { try transaction.delete(people.remove(at: next(people.count))) }
                    }
                    if next(3) == 0 { _ = try transaction.fetchCount(From<DynamicObject>(entity: "Person")) }
                }
            })
        }

        func transfer(back: Bool = false, limit: WorkLimit? = nil, verifies: Bool = true) throws -> LiveTransfer {
            var options = TransferOptions()
            options.verifies = verifies
            options.source = back ? "the target" : "the source"
            options.step = .zero
            return try LiveTransfer(from: back ? target : source, to: back ? source : target, options, limit: limit)
        }

        func expectSame(_ place: SourceLocation = #_sourceLocation) throws {
            let items = try TransferEngine().verify(source, target)
            #expect(items.filter { !$0.isSame }.map(\.name) == [], sourceLocation: place)
            for store in [source, target] {
                var findings: [String] = []
                try TransferEngine().check(store) { findings.append($0.description) }
                #expect(findings == [], sourceLocation: place)
            }
        }

        deinit { for store in [source, target] { try? store.erase() } }
    }

    private func code(_ body: () throws -> Void) -> StorageError.Code? {
        do { try body() } catch { return (error as? StorageError)?.code }
        return nil
    }

    @Test(arguments: Pair.all) func theTargetReplacesTheSourceAndTheSourceTheTarget(_ pair: Pair) throws {
        let stores = try Stores(pair, 400), stack = try stores.stack(stores.source), transfer = try stores.transfer()
        try transfer.copy()
        #expect(transfer.isCopied)
        for _ in 0..<4 {
            for _ in 0..<10 { try stores.change(stack) }
            #expect(try transfer.follow().transactions == 10)
            try stores.expectSame()
        }
        try stores.change(stack)
        let report = try transfer.cutOver(to: "elsewhere") {
            #expect(code { try stores.change(stack) } == .storeMoved)
        }
        #expect(report.verified.count == 6 && report.drained == 0, "\(report)")
        try stores.expectSame()
        let refused = #expect(throws: StorageError.self) { try stores.change(stack) }
        #expect(refused?.code == .storeMoved && refused?.message.contains("elsewhere") == true)

        #expect(try stack.historyConsumers().isEmpty)

        let next = try stores.stack(stores.target), back = try stores.transfer(back: true)
        #expect(back.isCopied)
        for _ in 0..<10 { try stores.change(next) }
        try back.follow()
        try stores.expectSame()
        try stores.change(next)
        _ = try back.cutOver(to: "the first")
        try stores.expectSame()
        #expect(code { try stores.change(next) } == .storeMoved)
        try stores.change(stack)
        // And a third time.
        let again = try stores.transfer()
        #expect(again.isCopied)
        _ = try again.cutOver(to: "elsewhere")
        try stores.expectSame()
    }

    @Test(arguments: Pair.some) func aCopyContinuesAlthoughTheSourceHasChanged(_ pair: Pair) throws {
        let stores = try Stores(pair, 8_000), stack = try stores.stack(stores.source)
        for rows in [1, 4_000, 6_500] {
            let limit = WorkLimit(), transfer = try stores.transfer(limit: limit)
            #expect(code { try transfer.copy { if $0.allDone > rows { limit.cancel() } } } == .cancelled)
            #expect(!transfer.isCopied)
            for _ in 0..<10 { try stores.change(stack) }
        }
        let transfer = try stores.transfer()
        try transfer.copy()
        _ = try transfer.cutOver(to: "elsewhere")
        try stores.expectSame()
    }

    @Test(arguments: Pair.some) func whatIsCommittedMeanwhileIsInTheTarget(_ pair: Pair) throws {
        let stores = try Stores(pair, 2000), stack = try stores.stack(stores.source)
        let committed = Mutex(0), isDone = Mutex(false), transfer = try stores.transfer()
        let ended = DispatchSemaphore(value: 0)
        Thread.detachNewThread {
            defer { ended.signal() }
            while !isDone.withLock({ $0 }) {
                do {
                    try stack.perform(synchronous: { transaction in
                        let object = try transaction.create(Into<DynamicObject>(entity: "Person"))
                        try object.setValue(.string("w\(committed.withLock { $0 })"), for: "name")
                        try object.setValue(.int(-1), for: "age")
                    })
                    committed.withLock { $0 += 1 }
                } catch {
                    if (error as? StorageError)?.code != .storeMoved { Issue.record(error) }
                    return
                }
            }
        }
        try transfer.copy()
        while committed.withLock({ $0 }) < 50 { try transfer.follow() }
        _ = try transfer.cutOver(to: "elsewhere")
        isDone.withLock { $0 = true }
        ended.wait()
        let count = try stores.stack(stores.target).fetchCount(
            From<DynamicObject>(entity: "Person").where(Where(format: "age == %@", arguments: [-1])))
        #expect(count == committed.withLock { $0 })
        try stores.expectSame()
    }

    @Test func anInterruptedCutOverIsCompletedOrReleased() throws {
        struct Interruption: Error {}
        let stores = try Stores(Pair(source: .sqlite, target: .sqlite), 100), stack = try stores.stack(stores.source)
        let transfer = try stores.transfer()
        try transfer.copy()
        // The process ended while the source was fenced.
        var options = WriteOptions()
        options.isMove = true
        let writer = try stores.source.beginWrite(options)
        try writer.setNote(MoveNote.name, MoveNote(to: "elsewhere", stores.target.storeID).bytes())
        _ = try writer.commit(CommitRecord())
        let fenced = #expect(throws: StorageError.self) { try stores.change(stack) }
        #expect(fenced?.code == .storeMoved && fenced?.message.contains("being moved") == true)
        try stores.transfer().release()
        try stores.change(stack)
        // Another process has taken over, so the first one cannot complete the target.
        #expect(code { _ = try transfer.cutOver(to: "elsewhere") } == .busy)
        try stores.change(stack)
        // The process ended when the target was complete.
        let third = try stores.transfer()
        #expect(throws: Interruption.self) { try third.cutOver(to: "elsewhere") { throw Interruption() } }
        #expect(code { try third.release() } == .storeMoved)
        #expect(code { try stores.change(stack) } == .storeMoved)
        let second = try stores.transfer()
        #expect(second.isCopied)
        #expect(code { try second.release() } == .storeMoved)
        var isSwitched = false
        _ = try second.cutOver(to: "elsewhere") { isSwitched = true }
        #expect(isSwitched)
        try stores.expectSame()
        // Neither a repetition nor an earlier transfer makes the source writable again.
        _ = try second.cutOver(to: "elsewhere")
        #expect(code { _ = try transfer.cutOver(to: "elsewhere") } == .busy)
        for one in [transfer, second, third] { #expect(code { try one.release() } != nil) }
        #expect(code { _ = try LiveTransfer.release(stores.source, target: stores.target, isCertain: true) } == .storeMoved)
        #expect(code { try stores.change(stack) } == .storeMoved)
        #expect(try stores.transfer(back: true).isCopied)
    }

    @Test func aFenceWithoutATargetIsEndedByAPerson() throws {
        let stores = try Stores(Pair(source: .sqlite, target: .memory), 20), stack = try stores.stack(stores.source)
        #expect(try !LiveTransfer.release(stores.source, target: nil))
        var options = WriteOptions()
        options.isMove = true
        let writer = try stores.source.beginWrite(options)
        try writer.setNote(MoveNote.name, MoveNote(to: "elsewhere", UUID()).bytes())
        _ = try writer.commit(CommitRecord())
        for target in [nil, stores.target] {
            #expect(code { _ = try LiveTransfer.release(stores.source, target: target) } == .storeMoved)
        }
        #expect(try LiveTransfer.release(stores.source, target: nil, isCertain: true))
        try stores.change(stack)
    }

    /// After two moves the first store has notes of the copy and of the move back.
    @Test func anInterruptedThirdMoveIsNoCompleteOne() throws {
        let stores = try Stores(Pair(source: .sqlite, target: .sqlite), 50), stack = try stores.stack(stores.source)
        _ = try stores.transfer().cutOver(to: "elsewhere")
        _ = try stores.transfer(back: true).cutOver(to: "the first")
        var options = WriteOptions()
        options.isMove = true
        try stores.change(stack)
        let writer = try stores.source.beginWrite(options)
        try writer.setNote(MoveNote.name, MoveNote(to: "elsewhere", stores.target.storeID).bytes())
        _ = try writer.commit(CommitRecord())
        let report = try stores.transfer().cutOver(to: "elsewhere")
        #expect(report.verified.count == 6)
        try stores.expectSame()
        #expect(code { try stores.change(stack) } == .storeMoved)
        try stores.change(stores.stack(stores.target))
    }

    /// A bulk load is not in the history.
    @Test(arguments: [true, false]) func aLoadThatIsNotFollowedIsFoundBeforeTheSourceIsReplaced(_ verifies: Bool) throws {
        let stores = try Stores(Pair(source: .sqlite, target: .lmdb), 50), transfer = try stores.transfer(verifies: verifies)
        try transfer.copy()
        let file = LoadMapping.file("tags.csv", entity: "Team")
        _ = try FileLoader.load(LoadMapping(files: [file]), into: stores.source) { _ in FileBlocks(Data("name\nx\n".utf8)) }
        #expect(code { _ = try transfer.cutOver(to: "elsewhere") } == .corrupted)
        try stores.change(stores.stack(stores.source))
    }

    @Test func theFormerSourceIsOpenedOnlyForReading() throws {
        let stores = try Stores(Pair(source: .sqlite, target: .sqlite), 100)
        let path = try #require(stores.source.ability((any LocalStorage).self)?.fileURL.path)
        let transfer = try stores.transfer()
        _ = try transfer.cutOver(to: "elsewhere")
        try stores.source.close()
        func store() -> any StorageInterface { SQLiteStore(path: path) }
        #expect(code { _ = try OpenStore(opening: store(), OpenRequest(schema: stores.schema)) } == .storeMoved)
        let reading = try OpenStore(opening: store(), OpenRequest(schema: nil, readOnly: true))
        #expect(code { _ = try reading.beginWrite() } == .readOnly)
        try reading.close()
    }

    @Test func whatCannotBeFollowedIsRefused() throws {
        let stores = try Stores(Pair(source: .memory, target: .sqlite), 50), transfer = try stores.transfer()
        try transfer.copy()
        // Another source, and the same one with objects that this transfer has not copied.
        var options = TransferOptions()
        options.source = "another source"
        #expect(code { _ = try LiveTransfer(from: stores.source, to: stores.target, options) } == .alreadyExists)
        #expect(code { _ = try TransferEngine().transfer(from: stores.source, to: stores.target) } == .alreadyExists)
        // A selection.
        options.selection.only = ["Tag"]
        #expect(code { _ = try LiveTransfer(from: stores.source, to: stores.target, options) } == .invalidConfiguration)
        // A purged history.
        let stack = try stores.stack(stores.source)
        for _ in 0..<3 { try stores.change(stack) }
        try stack.purgeHistory(.olderThan(.zero))
        #expect(try transfer.follow().transactions == 3, "the history is kept for the transfer")
        for _ in 0..<3 { try stores.change(stack) }
        try stack.purgeHistory(.olderThan(.zero), ignoringConsumersUnseenFor: .zero)
        #expect(code { try transfer.follow() } == .incompleteCopy)
    }
}

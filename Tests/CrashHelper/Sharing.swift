import Foundation
import Polystore
import PolystoreCatalog
import RawSessions

/// Programs of several versions of a model that share a store: polystore-crash --write URL (the first version),
/// --fill-notes URL COUNT (many notes of it), --upgrade URL (the last one), --notes URL (whatever is there).
struct Sharing {
    let url: String

    /// `text` becomes `body`, the number wider, and a note gets stars; each step is inferred.
    private static func schema(_ version: Int) throws -> Schema {
        let number = Attribute("number", version == 1 ? .int16 : .int64)
        let text = version == 1 ? Attribute("text", .string) : Attribute("body", .string, originalName: "text")
        let stars = Attribute("stars", .int32, defaultValue: .int(3))
        return try Schema(
            version: "V\(version)",
            entities: [
                Entity("Note", attributes: [number, text] + (version == 3 ? [stars] : []), indexes: [Index(["number"])])
            ])
    }

    private func store() throws -> any StorageInterface { try StoreCatalog.standard.store(at: StoreURL(url), configuration: nil) }

    private func say(_ line: String) { FileHandle.standardOutput.write(Data("\(line)\n".utf8)) }

    /// Says how work went: `done`, or the code and the message of the error.
    private func tell(_ what: String, _ work: () throws -> Void) {
        do {
            try work()
            say("\(what): done")
        } catch let error as StorageError {
            say("\(what): \(error.code.description) \(error.message)")
        } catch {
            say("\(what): \(error)")
        }
    }

    /// A program of the first version: it writes one note, says `ready`, and for each line that it reads writes and reads again.
    func write() throws {
        let stack = try DataStack(schema: Self.schema(1)), store = try store()
        var isOpen = false
        tell("open") {
            try stack.addStorageAndWait(store)
            isOpen = true
        }
        guard isOpen else { return }
        try add(1, stack)
        say("ready")
        while let line = readLine() {
            tell("write") { try add(Int64(line) ?? 0, stack) }
            tell("read") { _ = try stack.fetchCount(From<DynamicObject>(entity: "Note")) }
        }
        try stack.removeStorage(store)
    }

    private func add(_ number: Int64, _ stack: DataStack) throws {
        try stack.perform(synchronous: { transaction in
            let note = try transaction.create(Into<DynamicObject>(entity: "Note"))
            try note.setValue(.int(number), for: "number")
            try note.setValue(.string("Note \(number)"), for: "text")
        })
    }

    /// A program of the last version, which leads the store through the one between; it begins with the line that it reads.
    func upgrade() throws {
        let history = try SchemaHistory(Self.schema(1), Self.schema(2), Self.schema(3), migrationChain: ["V1", "V2", "V3"])
        let stack = try DataStack(schemaHistory: history), store = try store()
        say("ready")
        _ = readLine()
        tell("upgrade") { try stack.upgradeStorageIfNeeded(store) }
        tell("open") { try stack.addStorageAndWait(store) }
        tell("read") { say("count: \(try stack.fetchCount(From<DynamicObject>(entity: "Note")))") }
        try stack.removeStorage(store)
    }

    /// Writes many notes with the first version.
    func fillNotes(_ count: Int) throws {
        let stack = try DataStack(schema: Self.schema(1)), store = try store()
        try stack.addStorageAndWait(store)
        try stack.perform(synchronous: { transaction in
            for number in 1...count {
                let note = try transaction.create(Into<DynamicObject>(entity: "Note"))
                try note.setValue(.int(Int64(number)), for: "number")
                try note.setValue(.string("Note \(number)"), for: "text")
            }
        })
        try stack.removeStorage(store)
    }

    /// The versions that the store had and has, the numbers of its notes, and whether every other value is right.
    func notes() throws -> String {
        let store = try OpenStore(opening: store(), OpenRequest(schema: nil, createIfMissing: false)), schema = store.schema
        defer { try? store.close() }
        let reader = try store.beginRead()
        defer { reader.end() }
        let versions = try MigrationRecord.all(reader).map(\.schema.version) + [schema.version]
        let slots = schema[0].slots, cursor = try reader.cursor(for: FetchPlan(schema, 0)), batch = RowBatch(capacity: 1024)
        var numbers: [String] = [], isRight = true
        while try cursor.next(into: batch) {
            for index in 0..<batch.count {
                let row = batch.row(index), values = slots.indices.map { Value(row[$0], as: slots[$0].type) ?? .null }
                guard case .int(let number) = values[0] else { return "a number is no number" }
                numbers.append(String(number))
                isRight = isRight && values[1] == .string("Note \(number)") && (values.count == 2 || values[2] == .int(3))
            }
        }
        return "\(versions.joined(separator: ">")): \(numbers.joined(separator: " "))\(isRight ? "" : " wrong")"
    }
}

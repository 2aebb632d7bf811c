import Foundation
import Polystore
import PolystoreCatalog
import RawSessions

/// A store that is led to the next version of its model while programs of both versions could run: an attribute becomes wider, one gets
/// values where it had none, one comes.
struct Rolling {
    let url: String
    let count: Int

    private static func schema(_ version: String, _ attributes: [Attribute], _ indexes: [Index] = []) throws -> Schema {
        try Schema(version: version, entities: [Entity("Note", attributes: attributes, indexes: indexes)])
    }

    private static var first: Schema {
        get throws {
            try schema("V1", [Attribute("number", .int32), Attribute("state", .string, isOptional: true)])
        }
    }

    private static var second: Schema {
        get throws {
            try schema(
                "V2",
                [
                    Attribute("total", .int64, originalName: "number"), Attribute("state", .string, defaultValue: .string("new")),
                    Attribute("rank", .int16, defaultValue: .int(7)),
                ], [Index(["total"])])
        }
    }

    private func store() throws -> any StorageInterface { try StoreCatalog.standard.store(at: StoreURL(url), configuration: nil) }

    func fill() throws {
        let stack = try DataStack(schema: Self.first)
        try stack.addStorageAndWait(store())
        try stack.perform(synchronous: { transaction in
            for number in 0..<count {
                let note = try transaction.create(Into<DynamicObject>(entity: "Note"))
                try note.setValue(.int(Int64(number)), for: "number")
                if number.isMultiple(of: 2) { try note.setValue(.string("done"), for: "state") }
            }
        })
    }

    /// Takes the phases that are left, with a mark at the beginning.
    func roll() throws {
        let store = try store(), state = try store.open(OpenRequest(schema: nil, createIfMissing: false))
        FileHandle.standardOutput.write(Data(".".utf8))
        if state.schema.version == "V2" { return }
        let phases = try RollingMigration(OpenStore(store, state))
        if try phases.current() == nil { try phases.expand(to: SchemaHistory(schemas: [Self.first, Self.second])) }
        try phases.backfill(BackfillPace(batchSize: 100))
        try phases.contract()
        try store.close()
    }

    /// The version that a program can work with: the newer one, if it can. Every value is checked.
    func verify() throws -> String {
        let stack = try DataStack(schema: Self.second)
        // Added so, it migrates nothing.
        let isReady = (try? stack.addStorageAndWait(store())) != nil
        if isReady {
            try check(stack) { number, note throws(StorageError) in
                try [note.value("total"), note.value("rank"), note.value("state")]
                    == [.int(number), .int(7), .string(number.isMultiple(of: 2) ? "done" : "new")]
            }
            return "V2"
        }
        let older = try DataStack(schema: Self.first)
        try older.addStorageAndWait(store())
        try check(older) { number, note throws(StorageError) in
            try [note.value("number"), note.value("state")] == [.int(number), number.isMultiple(of: 2) ? .string("done") : .null]
        }
        return "V1"
    }

    private func check(_ stack: DataStack, _ isRight: (Int64, DynamicObject) throws(StorageError) -> Bool) throws {
        let notes = try stack.fetchAll(From<DynamicObject>(entity: "Note"))
        guard notes.count == count else { throw StorageError(.corrupted, "\(notes.count) notes of \(count)") }
        for note in notes where try !isRight(note.objectID.key.key - 1, note) {
            throw StorageError(.corrupted, "a value of note \(note.objectID)")
        }
    }
}

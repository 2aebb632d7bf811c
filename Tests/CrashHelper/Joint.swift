import Foundation
import Polystore
import PolystoreCatalog

/// A program that counts in two stores: polystore-crash --joint LEFT RIGHT [reversed]. It does what each line that it reads says, and answers
/// with a line: `joint` adds one to the number in both, in one transaction; `solo` adds one to another number of the right one.
struct Joint {
    private let stack: DataStack

    static func schema() throws -> Schema {
        try Schema(
            entities: [
                Entity("Left", attributes: [Attribute("x", .int64), Attribute("solo", .int64)]),
                Entity("Right", attributes: [Attribute("x", .int64), Attribute("solo", .int64)]),
            ], configurations: ["Left": ["Left"], "Right": ["Right"]])
    }

    init(_ urls: [String], isReversed: Bool) throws {
        stack = try DataStack(schema: try Self.schema())
        let places = Array(zip(urls, ["Left", "Right"]))
        for (url, name) in isReversed ? places.reversed() : places {
            try stack.addStorageAndWait(StoreCatalog.standard.store(at: StoreURL(url), configuration: name))
        }
    }

    func run() {
        FileHandle.standardOutput.write(Data("ready\n".utf8))
        while let line = readLine() {
            let words = line.split(separator: " ")
            for _ in 0..<(words.count > 1 ? Int(words[1]) ?? 1 : 1) { answer(String(words[0])) }
        }
    }

    private func answer(_ line: String) {
        do {
            // Which store is touched first is not the order in which they are opened.
            try stack.perform(synchronous: { transaction in
                if line == "solo" { return try add("Right", "solo", transaction) }
                for entity in Bool.random() ? ["Left", "Right"] : ["Right", "Left"] { try add(entity, "x", transaction) }
            })
            FileHandle.standardOutput.write(Data("ok\n".utf8))
        } catch {
            FileHandle.standardOutput.write(Data("\((error as? StorageError)?.code.description ?? "error")\n".utf8))
        }
    }

    private func add(_ entity: String, _ property: String, _ transaction: WriteTransaction) throws {
        guard let object = try transaction.fetchOne(From<DynamicObject>(entity: entity)),
            case .int(let number) = try object.value(property)
        else { return }
        try object.setValue(.int(number + 1), for: property)
    }
}

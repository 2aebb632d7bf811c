internal import Foundation
internal import PolystoreStorage

/// The beginning and the end of a printed program: its stores, and the versions of its model.
extension ProgramPrinter {
    var schema: Schema { versions[versions.count - 1] }

    /// Prints a migration, with the new names of the objects' hierarchies.
    mutating func migrate(_ changes: [ProgramChange]) {
        var version = ProgramVersion(after: schema)
        for change in changes where version.make(change) {
            line("// \(change)")
            guard case .renameEntity(let name, let new) = change else { continue }
            line("for (number, key) in keys where key.root == \"\(name)\" {")
            line("    keys[number] = ObjectKey(store: key.store, root: \"\(new)\", key: key.key)")
            line("}")
        }
        versions.append(version.schema)
        line("for store in stack.storages { try stack.removeStorage(store) }")
        line("version += 1")
        line("stack = try open()")
    }

    var beginning: String {
        let modules = ["Foundation", "Polystore", "PolystoreCatalog"].map { "import \($0)" }.joined(separator: "\n")
        let imports = "\(program.steps)".contains("importAll") ? Self.source : ""
        return modules + """


            \(imports)@main enum Program {
                nonisolated(unsafe) static var keys: [Int: ObjectKey] = [:], held: [Int: DynamicObject] = [:], version = 1

                static func object(_ number: Int, _ transaction: BaseTransaction) throws -> DynamicObject {
                    if held[number] == nil { held[number] = try transaction.edit(ObjectID<DynamicObject>(keys[number]!)) }
                    return held[number]!
                }

                static func key(_ number: Int) -> Int64 { keys[number]?.key ?? -1 }

                static func numbers(_ found: [ObjectKey]) -> [Int] { found.map { key in keys.first { $0.value == key }?.key ?? -1 } }

                static func assign(_ row: KeyValuePairs<String, Value>, _ object: DynamicObject) throws {
                    for (name, value) in row { try object.setValue(value, for: name) }
                }

                static func show<Answer>(_ line: Int = #line, _ body: () throws -> Answer) {
                    do { print(line, try body()) } catch { print(line, error) }
                }

            \(opening)

                static func main() throws {
                    var stack = try open()
            """
    }

    private var opening: String {
        let losses = zip(versions, versions.dropFirst()).flatMap { $1.changes(since: $0) }.filter { $0.loss != nil }.map(\.path)
        let added = stores.enumerated().map { position, name in
            let url =
                ["sqlite", "lmdb"].contains(name) ? "\(name):program\(position)" : (name == "postgresql" ? "env:POSTGRES" : "memory:")
            let store =
                "StoreCatalog.standard.store(at: StoreURL(\"\(url)\"), configuration: \(position == 0 ? "nil" : "\"\(GraphProgram.second)\""))"
            let upgrade = versions.count > 1 ? ["        try stack.upgradeStorageIfNeeded(\(store))"] : []
            return (upgrade + ["        try stack.addStorageAndWait(\(store))"]).joined(separator: "\n")
        }
        return """
                static func open() throws -> DataStack {
                    let versions = try models.prefix(version).map { try Schema(json: $0) }
                    var history = try SchemaHistory(schemas: versions, migrationChain: MigrationChain(versions.map(\\.version)))
                    history.acceptedLosses = \(losses)
                    let stack = try DataStack(schemaHistory: history)
            \(added.joined(separator: "\n"))
                    return stack
                }
            """
    }

    var end: String {
        let models = versions.map { schema in
            "        #\"\"\"\n\(schema.prettyJSON.split(separator: "\n").map { "        \($0)" }.joined(separator: "\n"))\n        \"\"\"#,"
        }
        return """
                }

                static let models = [
            \(models.joined(separator: "\n"))
                ]
            }
            """
    }
}

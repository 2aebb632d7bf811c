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
        line("version += 1")
        reopen()
    }

    /// Prints that all stores are closed and opened again. Those that keep nothing stay open.
    mutating func reopen() {
        if !stores.contains("memory") {
            line("for store in stack.storages { try stack.removeStorage(store) }")
            line("stack = try open()")
        }
        line("(view, watches, retained) = (stack.makeViewContext(), [], [:])")
    }

    var beginning: String {
        let modules = ["Foundation", "Polystore", "PolystoreCatalog"].map { "import \($0)" }.joined(separator: "\n")
        let imports = "\(program.steps)".contains("importAll") ? Self.source : ""
        return modules + """


            \(imports)@main enum Program {
                nonisolated(unsafe) static var keys: [Int: ObjectKey] = [:], held: [Int: DynamicObject] = [:], version = 1
                nonisolated(unsafe) static var watches: [() throws -> String] = [], retained: [Int: DynamicObject] = [:]
                nonisolated(unsafe) static var tokens: [Int: HistoryToken] = [:]

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

            \(Self.reporting)

            \(opening)

                static func main() throws {
                    var stack = try open()
                    var view = stack.makeViewContext()
            """
    }

    /// The functions that print objects, the lists and values of observers, versions and histories.
    private static let reporting = """
            static func look(_ object: DynamicObject) throws -> String {
                let entities = try Schema(json: models[version - 1]).entities
                var texts = [object.entityName], name: String? = object.entityName
                while let entity = entities.first(where: { $0.name == name }) {
                    for attribute in entity.attributes { texts.append("\\(attribute.name): \\(try object.value(attribute.name))") }
                    for item in entity.relationships {
                        let one = item.cardinality == .toOne ? try object.object(item.name) : nil
                        let found = item.cardinality == .toOne ? [one].compactMap { $0 } : try object.objects(item.name)
                        texts.append("\\(item.name): \\(numbers(found.map(\\.objectID.key)))")
                    }
                    name = entity.parent
                }
                return texts.joined(separator: " ")
            }

            static func pages(_ next: (PageCursor?) throws -> Page<DynamicObject>) throws -> [Int] {
                var found: [Int] = [], cursor: PageCursor?
                repeat {
                    let page = try next(cursor)
                    found += numbers(page.objects.map(\\.objectID.key))
                    cursor = page.next
                } while cursor != nil
                return found
            }

            static func report(_ stack: DataStack, _ view: ViewContext, _ line: Int = #line) throws {
                while try view.merge() {}
                // Publishers follow soon.
                if !watches.isEmpty { Thread.sleep(forTimeInterval: 0.3) }
                for watch in watches { print(line, try watch()) }
                for (number, object) in retained.sorted(by: { $0.key < $1.key }) {
                    print(line, "retained", number, try object.isDeleted ? "deleted" : look(object))
                }
                for (number, key) in keys where number % 3 == 0 && retained[number] == nil {
                    retained[number] = try view.fetchExisting(ObjectID<DynamicObject>(key))
                }
                try stack.read(synchronous: { source in
                    for root in try Schema(json: models[version - 1]).entities where root.parent == nil {
                        for object in try source.fetchAll(From<DynamicObject>(entity: root.name)) {
                            print(line, numbers([object.objectID.key]), "version", object.version, try look(object))
                        }
                    }
                })
                for (home, store) in stack.storages.enumerated() where store.capabilities.contains(.history) {
                    for entry in try stack.history(HistoryRequest(after: tokens[home]), of: .storage(store)).transactions {
                        tokens[home] = entry.token
                        print(line, "history of store", home, entry.author.name, entry.changes.map { "\\(numbers([$0.key])) \\($0.kind)" })
                    }
                }
            }
        """

    private var opening: String {
        let losses = zip(versions, versions.dropFirst()).flatMap { $1.changes(since: $0) }.filter { $0.loss != nil }.map(\.path)
        let added = stores.enumerated().map { position, name in
            let url =
                StoreURL.fileSchemes.contains(name) ? "\(name):program\(position)" : (name == "postgresql" ? "env:POSTGRES" : "memory:")
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

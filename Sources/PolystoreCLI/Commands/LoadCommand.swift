internal import ArgumentParser
internal import Foundation
internal import PolystoreStorage
internal import PolystoreTransfer

/// `polystore load`.
struct LoadCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "load", abstract: "Loads CSV or NDJSON files into a store, in one transaction.",
        discussion: """
            Either --mapping names a file that says which files feed which entities and how relationships are found, or --entity names \
            the entity of the one file that is given. A mapping is {"files": [{"file": "flights.csv", "entity": "Flight", "columns": \
            {"delay": "arr_delay"}, "relationships": {"plane": {"tailnum": "tail"}}}]}: the attribute delay is filled by the column \
            arr_delay, and the plane is the one whose tailnum the column tail has. Values must keep the rules of the model. References lead to objects of the files \
            and of the store; those that lead nowhere are left out and counted, and the exit code is 3 then.
            """)

    @Argument(help: "The store to load into; it is made where it is missing.")
    var store: String

    @Argument(help: "The file, with --entity.")
    var file: String?

    @Option(help: "The model file; needed for a store that does not exist yet.")
    var model: String?

    @Option(help: "The mapping file; the files that it names lie beside it.")
    var mapping: String?

    @Option(help: "The entity of the rows of the file.")
    var entity: String?

    @Flag(help: "Refuse references that lead nowhere.")
    var strict = false

    @Flag(name: .shortAndLong, help: "Show no progress.")
    var quiet = false

    @Option(name: .customLong("nil"), help: "A text of CSV fields that means nil, besides the empty one; may be repeated.")
    var nils: [String] = []

    @Flag(help: "Leave out columns and names of the files that no attribute has.")
    var ignoreUnknown = false

    func run() throws {
        var (mapping, folder) = try wanted()
        if ignoreUnknown { mapping.ignoresUnknown = true }
        if !nils.isEmpty { mapping.nil = (mapping.nil ?? [""]) + nils }
        let schema = try model.map { path throws(StorageError) in try Stores.model(path) }
        Interruption.watch()
        let made = try schema.map { schema throws(StorageError) in try Stores.create(store, schema) }
        let opened = try made ?? Stores.open(store, readOnly: false)
        let line = ProgressLine(isQuiet: quiet), report: LoadReport
        do {
            defer { line.finish() }
            report = try FileLoader.load(
                mapping, into: opened.store, isStrict: strict, limit: Interruption.limit, progress: { line.show($0, done: $1) },
                read: { try Stores.blocks(folder.appendingPathComponent($0).path) })
        } catch {
            opened.abandon()
            throw error
        }
        try opened.finish()
        LoadCommand.show(report)
        if report.dangling.contains(where: { $0.unresolved > 0 }) { throw Failure.incomplete }
    }

    private func wanted() throws -> (LoadMapping, URL) {
        if let mapping {
            return (
                try LoadMapping(json: Stores.data(mapping, atMost: Stores.longestText)),
                URL(fileURLWithPath: mapping).deletingLastPathComponent()
            )
        }
        guard let file, let entity else { throw ValidationError("give --mapping FILE, or a file and --entity NAME") }
        let url = URL(fileURLWithPath: file)
        return (LoadMapping(files: [LoadMapping.file(url.lastPathComponent, entity: entity)]), url.deletingLastPathComponent())
    }

    /// Prints the number of loaded objects, and the unresolved references of each relationship.
    static func show(_ report: LoadReport) {
        for item in report.loaded { Console.print("loaded \(item.count) objects of \(item.entity)") }
        for item in report.dangling where item.unresolved > 0 || item.unnamed > 0 {
            let unnamed = item.unnamed > 0 ? ", \(item.unnamed) name none" : ""
            Console.print("\(item.relationship): \(item.unresolved) lead nowhere (\(item.distinct) different)\(unnamed)")
        }
    }
}

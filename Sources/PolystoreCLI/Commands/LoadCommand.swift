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
            the entity of the one file that is given.
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

    @Flag(help: "Leave out columns and names of the files that no attribute has.")
    var ignoreUnknown = false

    func run() throws {
        var (mapping, folder) = try wanted()
        if ignoreUnknown { mapping.ignoresUnknown = true }
        let opened = try model.map { try Stores.create(store, Stores.model($0)) } ?? Stores.open(store, readOnly: false)
        let line = ProgressLine(isQuiet: quiet)
        do {
            let report = try FileLoader.load(
                mapping, into: opened.store, isStrict: strict, progress: { line.show($0, done: $1) },
                read: { try Stores.data(folder.appendingPathComponent($0).path) })
            line.finish()
            opened.close()
            LoadCommand.show(report)
        } catch {
            line.finish()
            Stores.remove(opened, after: error)
            throw error
        }
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

    /// What was loaded, and per relationship what leads nowhere.
    static func show(_ report: LoadReport) {
        for item in report.loaded { Console.print("loaded \(item.count) objects of \(item.entity)") }
        for item in report.dangling where item.unresolved > 0 || item.unnamed > 0 {
            let unnamed = item.unnamed > 0 ? ", \(item.unnamed) name none" : ""
            Console.print("\(item.relationship): \(item.unresolved) lead nowhere (\(item.distinct) different)\(unnamed)")
        }
    }
}

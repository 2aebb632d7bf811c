internal import ArgumentParser
internal import Foundation
internal import PolystoreStorage
internal import PolystoreTransfer

/// `polystore load`.
struct LoadCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "load", abstract: "Loads CSV, TSV, NDJSON or JSON files into a store, in one transaction.",
        discussion: """
            Either --mapping names a file that assigns files to entities and columns to attributes and relationships, or --entity names \
            the entity of the one given file. A mapping is {"files": [{"file": "flights.csv", "entity": "Flight", "columns": \
            {"delay": "arr_delay"}, "relationships": {"plane": {"tailnum": "tail"}}}]}: the attribute delay is read from the column \
            arr_delay, and the plane is the one whose tailnum equals the column tail. With "on": ["code"] a record updates the object that has \
            its code. To a to-many relationship a record adds members, several of a field with "separator": ";". Values must satisfy the rules \
            of the model. \
            References are resolved to objects of the files and of the store; unresolved references are skipped and counted, and the exit \
            code is then 3. A record that cannot be loaded ends the load, and nothing is loaded, unless --rejects names a file for such records.

            A file that polystore transfer --rejects has written needs neither: its records name their entities, and are loaded with their keys.

            Files may be compressed by gzip. The form of a file follows from its extension (.csv, .tsv, .ndjson, .jsonl), otherwise from its \
            first line; the separator of a .csv file is the comma, semicolon, tab or vertical bar of its first line. --infer makes a model \
            from the file.
            """)

    @Argument(help: "The store to load into, as a URL; it is created if it does not exist.", completion: ShellCompletion.store)
    var store: String

    @Argument(help: "The file to load, with --entity or --infer, or - for the standard input.")
    var file: String?

    @Option(help: "The model file; required if the store does not exist.")
    var model: String?

    @Flag(help: "Infer the model of a new store from the file; the entity is named by --entity, or after the file.")
    var infer = false

    @Option(help: "The mapping file; its file names are relative to its folder.")
    var mapping: String?

    @Option(parsing: .unconditional, help: "The entity of the file's rows.", completion: ShellCompletion.entity)
    var entity: String?

    @Option(
        name: .customLong("on"), parsing: .unconditionalSingleValue,
        help: "An attribute that identifies objects: a record with the value of an object updates it; can be repeated.")
    var identity: [String] = []

    @Flag(help: "Refuse unresolved references.")
    var strict = false

    @Option(
        help: """
            Load without the records that cannot be loaded, and write these with the reasons to a file, or of a mapping to files of a folder, \
            which can be loaded again.
            """)
    var rejects: String?

    @Option(parsing: .unconditional, help: "The maximum number of rejected records; with more, nothing is loaded.")
    var maxRejects: Int?

    @Flag(name: .shortAndLong, help: "Do not show progress.")
    var quiet = false

    @Option(
        name: .customLong("nil"), parsing: .unconditionalSingleValue,
        help: "A text of CSV fields that means nil, in addition to the empty text; can be repeated.")
    var nils: [String] = []

    @Flag(help: "Ignore columns and names of the files that match no property.")
    var ignoreUnknown = false

    @Flag(help: "Print the result as JSON.")
    var json = false

    func validate() throws {
        if infer, model != nil || mapping != nil { throw ValidationError("--infer makes the model, so it excludes --model and --mapping") }
        if infer, file == nil { throw ValidationError("--infer needs a file") }
        if mapping != nil, file != nil || entity != nil {
            throw ValidationError("--mapping names the files and entities, so it excludes a file and --entity")
        }
        if let maxRejects, maxRejects < 1 { throw ValidationError("--max-rejects must be at least 1") }
        if maxRejects != nil, rejects == nil { throw ValidationError("--max-rejects limits the records of --rejects") }
        if mapping != nil, !identity.isEmpty { throw ValidationError("the mapping names the attributes of --on for each file, as \"on\"") }
    }

    func run() throws {
        let source = try LoadSource(file: file, mapping: mapping)
        var (mapping, schema) = try wanted(source)
        if ignoreUnknown { mapping.ignoresUnknown = true }
        if !nils.isEmpty { mapping.nil = (mapping.nil ?? [""]) + nils }
        let output = try rejects.map { path throws(StorageError) in
            if let obstacle = try TransferTarget(store).obstacle(toOutput: path) { throw obstacle }
            return try RejectsOutput(path, isFolder: self.mapping != nil, input: file)
        }
        let rejected = output.map { _ in LoadRejects(most: maxRejects ?? .max) }
        Interruption.watch()
        let made = try schema.map { schema throws(StorageError) in try create(schema) }
        let opened = try made ?? Stores.open(store, readOnly: false)
        let line = ProgressLine(isQuiet: quiet), report: LoadReport
        do {
            defer { line.finish() }
            report = try FileLoader.load(
                mapping, into: opened.store, isStrict: strict, rejects: rejected, limit: Interruption.limit,
                progress: { line.show($0, done: $1) },
                willCommit: { () throws(StorageError) in if let rejected { try output?.write(rejected, mapping) } },
                read: source.blocks)
        } catch {
            opened.abandon()
            throw error
        }
        try opened.finish()
        if json { Console.print(LoadCommand.json(report, rejected: rejected?.count ?? 0)) } else { LoadCommand.show(report) }
        if let rejected, rejected.count > 0 {
            output?.show(rejected, mapping, isQuiet: quiet)
            throw Failure.incomplete
        }
        if report.dangling.contains(where: { $0.unresolved > 0 }) { throw Failure.incomplete }
    }

    private func create(_ schema: Schema) throws(StorageError) -> Stores.Opened {
        do throws(StorageError) { return try Stores.create(store, schema) } catch {
            if !infer || error.code != .schemaMismatch { throw error }
            throw StorageError(
                error.code,
                "--infer makes the model of a new store, and this one has another model; load the file with --entity, without --infer",
                cause: error)
        }
    }

    /// Returns the mapping of the files, and the model of a store that is to be created.
    private func wanted(_ source: LoadSource) throws -> (LoadMapping, Schema?) {
        let schema = try model.map { path throws(StorageError) in try Stores.model(path) }
        if let mapping { return (try LoadMapping(json: Stores.data(mapping, atMost: Stores.longestText)), schema) }
        guard let name = source.name, let entity = entity ?? (infer ? source.entityName : nil) else {
            if let name = source.name, !infer, let mapping = try LoadMapping(objectsIn: source.blocks(name), name) {
                return (mapping, schema)
            }
            throw ValidationError("specify --mapping FILE, or a file and --entity NAME")
        }
        var file = LoadMapping.file(name, entity: entity)
        if !identity.isEmpty { file.on = identity }
        if !infer { return (LoadMapping(files: [file]), schema) }
        let inference = try ModelInference(try source.blocks(name), name: name, entity: entity, nils: [""] + nils)
        file.columns = inference.columns
        do throws(SchemaError) { return (LoadMapping(files: [file]), try Schema(entities: [inference.entity])) } catch {
            throw StorageError(.invalidConfiguration, "no model can be inferred from \(name): \(error)", cause: error)
        }
    }

    private static func json(_ report: LoadReport, rejected: Int) -> String {
        let loaded = report.loaded.map { item in
            JSONText.object([
                ("entity", JSONText.string(item.entity)), ("new", "\(item.count)"), ("updated", "\(item.updated)"),
                ("unchanged", "\(item.unchanged)"),
            ])
        }
        let references = report.dangling.map { item in
            JSONText.object([
                ("relationship", JSONText.string(item.relationship)), ("unresolved", "\(item.unresolved)"),
                ("distinct", "\(item.distinct)"), ("nil", "\(item.unnamed)"),
            ])
        }
        return JSONText.object([
            ("loaded", JSONText.array(loaded)), ("references", JSONText.array(references)), ("rejected", "\(rejected)"),
        ])
    }

    /// Prints the number of loaded objects, and the unresolved references of each relationship.
    static func show(_ report: LoadReport) {
        for item in report.loaded {
            let changed = item.updated + item.unchanged > 0 ? ", updated \(item.updated), \(item.unchanged) unchanged" : ""
            Console.report("loaded \(item.count) objects of \(item.entity)\(changed)")
        }
        for item in report.dangling where item.unresolved > 0 || item.unnamed > 0 {
            let unnamed = item.unnamed > 0 ? ", \(item.unnamed) nil" : ""
            Console.report("\(item.relationship): \(item.unresolved) unresolved (\(item.distinct) distinct)\(unnamed)")
        }
    }
}

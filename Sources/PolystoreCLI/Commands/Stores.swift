internal import Foundation
internal import Polystore
internal import PolystoreCatalog
internal import PolystoreStorage
internal import PolystoreTransfer
internal import Synchronization

/// Opens the stores named by a command.
enum Stores {
    /// The kinds of store that the program supports.
    @TaskLocal static var catalog = StoreCatalog.standard

    /// An open store.
    struct Opened {
        let store: OpenStore
        let url: StoreURL
        /// The temporary store, if it was created under a temporary name and is renamed when it is complete.
        var made: MadeStore?

        var state: StorageState { store.state }
        var schema: Schema { store.schema }
        /// The place of the store as text without a password, which does not depend on the current folder.
        var place: String {
            store.ability((any LocalStorage).self).map { "\(url.scheme):\($0.fileURL.path)" } ?? url.redacted
        }
        /// The parts of another program's database that are skipped or read differently from their declaration.
        var remarks: [String] { store.ability((any ForeignStorage).self)?.remarks ?? [] }
        /// Returns the number of all objects.
        func count() throws(StorageError) -> Int {
            let reader = try store.beginRead(ReadOptions(limit: Interruption.limit))
            defer { reader.end() }
            let contents = Contents(reader)
            var count = 0
            for root in schema.roots { count += try contents.count(root) }
            return count
        }

        /// Notes that data of an entity, or of any, is in the database but cannot be read.
        func noteLosses(of entity: String? = nil) {
            for loss in store.ability((any ForeignStorage).self)?.losses ?? [] {
                if let entity, loss != entity, !loss.hasPrefix(entity + ".") { continue }
                Console.error("note: \(url.redacted): data of \(loss) is left out; polystore info shows why")
            }
        }
        func close() { try? store.close() }
        /// Checks for damage, if the store supports it.
        func check() throws(StorageError) {
            try Stores.naming(url) { () throws(StorageError) in try store.ability((any CheckedStorage).self)?.check() }
        }

        /// Closes the store and renames a temporary store to the requested name.
        ///
        /// - Throws: `alreadyExists` if a file of that name exists by now.
        func finish() throws(StorageError) {
            try store.close()
            try made?.publish()
        }

        /// Closes the store after failed work, and keeps it under its temporary name.
        func keep() {
            close()
            made?.unlock()
        }

        /// Closes the store after failed work. Removes a store that was created for this work, unless other programs use it by now.
        func abandon() {
            if let made {
                close()
                made.remove()
            } else if state.wasCreated, let storage = store.ability((any WithdrawableStorage).self) {
                try? storage.withdraw()
            }
            close()
        }
    }

    /// Opens an existing store.
    ///
    /// - Parameter isScanned: Whether all objects are read once, in order.
    static func open(
        _ text: String, readOnly: Bool = true, acceptsIncompleteCopy: Bool = false, isScanned: Bool = false
    ) throws(StorageError) -> Opened {
        try asking(text) { url throws(StorageError) in
            var request = OpenRequest(schema: nil, createIfMissing: false, readOnly: readOnly)
            request.acceptsIncompleteCopy = acceptsIncompleteCopy
            return Opened(store: try OpenStore(opening: storage(url, isScanned), request), url: url)
        }
    }

    /// Passes a store that is not opened to a closure, which connects to its server without opening it.
    static func withStorage<R>(_ text: String, _ body: (any StorageInterface) throws(StorageError) -> R) throws(StorageError) -> R {
        try answering(try url(text)) { url throws(StorageError) in try body(catalog.store(at: url)) }
    }

    private static func storage(_ url: StoreURL, _ isScanned: Bool) throws(StorageError) -> any StorageInterface {
        isScanned ? try catalog.store(forScanning: url) : try catalog.store(at: url)
    }

    /// Opens an existing store as the only one of a stack with its model.
    ///
    /// A store that is opened only for reading is not changed in any way: a database of another program gets no tables or triggers.
    static func stack(_ text: String, readOnly: Bool) throws(StorageError) -> (stack: DataStack, url: StoreURL) {
        let opened = try open(text)
        return try naming(opened.url) { () throws(StorageError) in
            let stack = try DataStack(schema: opened.schema)
            if readOnly {
                stack.add(opened.store)
            } else {
                opened.close()
                try stack.addStorageAndWait(catalog.store(at: opened.url))
            }
            return (stack, opened.url)
        }
    }

    /// Returns the URL of a store: of a name of the configuration file if the text begins with `@`, with the password if one was typed.
    ///
    /// - Throws: Errors of the configuration file, also if the text is a URL: no setting of it is ignored.
    static func url(_ text: String) throws(StorageError) -> StoreURL {
        let configuration = try Configuration.current()
        let named = text.hasPrefix("@") ? try configuration.url(named: String(text.dropFirst())) : text
        let url = try catalog.url(for: named)
        guard let password = passwords.withLock({ $0[url.text] }) else { return url }
        return url.with(password: password)
    }

    /// Returns the text of a store for another program, which does not know the names of the configuration file.
    ///
    /// - Throws: `unsupported` for a name whose URL contains a password, because it would be in the list of processes.
    static func text(of text: String) throws(StorageError) -> String {
        if !text.hasPrefix("@") { return text }
        let named = try Configuration.current().url(named: String(text.dropFirst()))
        if named.hasPrefix("env:") { return named }
        if let url = try? StoreURL(named), url.redacted != named {
            throw StorageError(.unsupported, "\(text) has a password, which another program cannot be given; write env:VARIABLE")
        }
        return named
    }

    /// Opens a store, also if it contains an incomplete copy, or is one that has not got its name.
    static func openUnfinished(_ text: String, readOnly: Bool = true) throws(StorageError) -> Opened {
        do throws(StorageError) { return try open(text, readOnly: readOnly, acceptsIncompleteCopy: true) } catch {
            guard error.code == .notFound, let url = try? url(text), !url.place.isEmpty, url.scheme != "postgresql" else { throw error }
            let partial = url.moved(to: url.place + ".partial")
            var request = OpenRequest(schema: nil, createIfMissing: false, readOnly: readOnly)
            request.acceptsIncompleteCopy = true
            guard let storage = try? catalog.store(at: partial), let store = try? OpenStore(opening: storage, request) else { throw error }
            return Opened(store: store, url: url)
        }
    }

    /// The passwords that were typed, by the text of the URL.
    private static let passwords = Mutex<[String: String]>([:])

    /// Passes the URL of a store to a closure as ``answering(_:_:)`` does. Errors name the store.
    private static func asking<R>(_ text: String, _ body: (StoreURL) throws(StorageError) -> R) throws(StorageError) -> R {
        let url = try url(text)
        UsedStores.insert(url)
        return try naming(url) { () throws(StorageError) in try answering(url, body) }
    }

    /// Passes a URL to a closure, again with a password if the server asks for one and it can be typed.
    private static func answering<R>(_ url: StoreURL, _ body: (StoreURL) throws(StorageError) -> R) throws(StorageError) -> R {
        do throws(StorageError) { return try body(url) } catch {
            guard error.code == .authenticationFailed, error.message.contains("asks for a password") else { throw error }
            guard let password = try PasswordQuestion.ask(url.redacted) else { throw error }
            passwords.withLock { $0[url.text] = password }
            return try body(url.with(password: password))
        }
    }

    /// Adds the store, as it was specified, to errors that do not contain its location.
    fileprivate static func naming<R>(_ url: StoreURL, _ body: () throws(StorageError) -> R) throws(StorageError) -> R {
        do throws(StorageError) { return try body() } catch {
            throw error.naming(url)
        }
    }

    /// Opens a store, or creates it with a schema if it is missing. A store in a file is created under a temporary name, and `finish`
    /// renames it.
    ///
    /// - Parameters:
    ///   - continuesCopy: Whether a store is opened for a copy, which it may already contain a part of, under its temporary name if it is in
    ///     a file.
    ///   - replacesInterrupted: Whether the temporary store of an interrupted process is removed.
    ///   - leavesRoomForHistory: Whether the store will have the history of another one.
    ///   - notes: The notes of a new store.
    static func create(
        _ text: String, _ schema: Schema, continuesCopy: Bool = false, replacesInterrupted: Bool = false,
        leavesRoomForHistory: Bool = false, notes: [String: Data] = [:]
    ) throws(StorageError) -> Opened {
        var request = OpenRequest(schema: schema)
        request.acceptsIncompleteCopy = continuesCopy
        request.leavesRoomForHistory = leavesRoomForHistory
        request.notes = notes
        let interrupted: MadeStore.Interrupted = continuesCopy ? .continued : replacesInterrupted ? .replaced : .ignored
        return try asking(text) { url throws(StorageError) in try create(url, request, interrupted) }
    }

    private static func create(
        _ url: StoreURL, _ request: OpenRequest, _ interrupted: MadeStore.Interrupted
    ) throws(StorageError) -> Opened {
        let continuesCopy = request.acceptsIncompleteCopy, store = try storage(url, continuesCopy)
        if let made = try MadeStore(store, url, interrupted: interrupted) {
            let temporary = try storage(made.url, continuesCopy)
            do throws(StorageError) {
                return Opened(store: try OpenStore(opening: temporary, request), url: url, made: made)
            } catch {
                if !continuesCopy {
                    made.remove()
                    throw error
                }
                made.unlock()
                throw StorageError(error.code, "\(made.name): \(error.message)", details: error.details, cause: error)
            }
        }
        return Opened(store: try OpenStore(opening: store, request), url: url)
    }

    /// Returns the numbers of the device and of the file at a path; nil if there is none.
    static func identity(_ path: String) -> [UInt64]? {
        var status = stat()
        return stat(path, &status) == 0 ? [UInt64(status.st_dev), UInt64(status.st_ino)] : nil
    }

    /// Refuses an output that would replace a database or the input file.
    static func check(output path: String, from input: String?) throws(StorageError) {
        if path == "-" {
            throw StorageError(
                .invalidConfiguration, "the standard output is not available here; specify a file (./- for one of this name)")
        }
        if let input, let output = identity(path), output == identity(input) {
            throw StorageError(.invalidConfiguration, "\(path) is the input file; write to another file")
        }
        if let url = try? catalog.url(for: path), catalog.schemes.contains(url.scheme) {
            throw StorageError(.alreadyExists, "\(path) is a database; write to another file, or remove it first")
        }
    }

    /// Refuses to replace an existing file that no command of this kind has written.
    ///
    /// - Parameters:
    ///   - noun: What the files of this kind are, such as `an archive`.
    ///   - isOwn: Whether contents are those of a file of this kind. A file without any content can be replaced too.
    static func check(
        replacing path: String, _ noun: String, where isOwn: (FileBlocks) throws -> Bool
    ) throws(StorageError) {
        let file = URL(fileURLWithPath: path).resolvingSymlinksInPath().path
        guard let known = try? FileManager.default.attributesOfItem(atPath: file), known[.type] as? FileAttributeType == .typeRegular,
            known[.size] as? UInt64 != 0
        else { return }
        // A file that cannot be read, such as a damaged compressed one, may be anything.
        if (try? isOwn(blocks(file, isCounted: false))) == true { return }
        throw StorageError(.alreadyExists, "\(path) exists and is not \(noun); write to another file, or remove it first")
    }

    /// Returns whether the first line of a text contains one of the marks, or there is no text.
    ///
    /// - Parameters:
    ///   - marks: Texts of at most 100 bytes.
    ///   - atStart: Whether the text must begin with a mark.
    static func hasMark(_ text: FileBlocks, _ marks: [String], atStart: Bool = false) throws -> Bool {
        var line = Data(), isEmpty = true
        while let block = try text.block() {
            isEmpty = false
            let end = block.firstIndex(of: UInt8(ascii: "\n"))
            line += block[..<(end ?? block.endIndex)]
            if marks.contains(where: { line.range(of: Data($0.utf8), options: atStart ? .anchored : []) != nil }) { return true }
            if end != nil || atStart && line.count > 100 { return false }
            // The line may be long, and a mark may be in two blocks.
            line = Data(line.suffix(100))
        }
        return isEmpty
    }

    /// The ends of the paths of the files that a store may have.
    static let suffixes = ["", "-wal", "-shm", "-journal", "-lock", "/data.mdb", "/lock.mdb"]

    /// Refuses an output that is a file of the store itself, under any path.
    static func checkIsNoPart(_ path: String, of opened: Opened) throws(StorageError) {
        func place(_ path: String) -> String { URL(fileURLWithPath: path).standardizedFileURL.resolvingSymlinksInPath().path }
        guard let file = opened.store.ability((any LocalStorage).self)?.fileURL.path else { return }
        // The store creates missing files of this list when it is next used.
        let parts = suffixes.map { place(file + $0) }
        let output = identity(path)
        if parts.contains(place(path)) || output != nil && parts.contains(where: { identity($0) == output }) {
            throw StorageError(.invalidConfiguration, "\(path) is a file of the store that is read; write to another file")
        }
    }

    /// Returns the text of a file.
    static func text(_ path: String) throws(StorageError) -> String {
        let data = try Stores.data(path, atMost: longestText)
        guard let text = String(data: data, encoding: .utf8) else {
            throw StorageError(.invalidConfiguration, "\(path): the file is not valid UTF-8")
        }
        return text
    }

    /// The maximum size of a model or a mapping in bytes.
    static let longestText = 16 << 20

    /// Returns the contents of a file.
    static func data(_ path: String, atMost most: Int? = nil) throws(StorageError) -> Data {
        do throws(RegularFile.Problem) { return try RegularFile.data(path, atMost: most) } catch { throw refusal(path, error) }
    }

    /// Returns the contents of a file, block by block. A compressed file is decompressed; `-` is the standard input.
    ///
    /// - Parameter isCounted: Whether the progress of the command is that of reading this file.
    static func blocks(_ path: String, isCounted: Bool = true) throws(StorageError) -> FileBlocks {
        func blocks(_ file: FileHandle) -> FileBlocks {
            FileBlocks { try file.read(upToCount: 1 << 20).flatMap { $0.isEmpty ? nil : $0 } }
        }
        if path == "-" { return blocks(.standardInput) }
        let file = try open(file: path)
        let start: Data
        do {
            start = try file.read(upToCount: 2) ?? Data()
            try file.seek(toOffset: 0)
        } catch {
            throw StorageError(.inputOutput, "\(path): the file cannot be read", cause: error)
        }
        if [[0xff, 0xfe], [0xfe, 0xff]].contains(Array(start)) {
            throw StorageError(
                .valueNotStorable, "\(path): the text is UTF-16; convert it to UTF-8 first (iconv -f UTF-16 -t UTF-8)")
        }
        if Compression.isCompressed(start) { return try Compression.decompressed(path) }
        return isCounted ? InputProgress.counting(blocks(file), of: path) : blocks(file)
    }

    private static func open(file path: String) throws(StorageError) -> FileHandle {
        do throws(RegularFile.Problem) {
            return FileHandle(fileDescriptor: try RegularFile.open(path), closeOnDealloc: true)
        } catch {
            throw refusal(path, error)
        }
    }

    private static func refusal(_ path: String, _ problem: RegularFile.Problem) -> StorageError {
        let code: StorageError.Code =
            switch problem {
            case .tooLarge: .limitExceeded
            case .unreadable(EACCES), .unreadable(EPERM): .permissionDenied
            case .unreadable(EIO): .inputOutput
            case .missing, .folder, .notRegular, .unreadable: .notFound
            }
        return StorageError(code, "\(path): \(problem.sentence)")
    }

    /// Returns the schema of a model file.
    static func model(_ path: String) throws(StorageError) -> Schema {
        let text = try text(path)
        let schema: Schema
        do throws(SchemaError) { schema = try Schema(json: text) } catch {
            throw StorageError(.invalidConfiguration, "\(path): \(error)", cause: error)
        }
        try check(schema, path)
        return schema
    }

    /// Checks parts of a schema that only objects need, such as the patterns of strings, so that errors appear now and not when a program
    /// starts.
    static func check(_ schema: Schema, _ path: String) throws(StorageError) {
        do throws(StorageError) { _ = try DataStack(schema: schema) } catch {
            throw StorageError(error.code, "\(path): \(error.message)", cause: error)
        }
    }
}

extension StoreURL {
    /// Returns the URL with a password, which is not part of its text.
    fileprivate func with(password: String) -> StoreURL {
        let encoded = password.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
        return moved(to: "\(place)\(place.contains("?") ? "&" : "?")password=\(encoded)")
    }
}

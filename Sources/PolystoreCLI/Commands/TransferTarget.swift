internal import Foundation
internal import Polystore
internal import PolystoreCatalog
internal import PolystoreStorage
internal import PolystoreTransfer

/// The target of a transfer before anything is written to it.
struct TransferTarget {
    private let text: String
    let url: StoreURL
    let storage: any StorageInterface

    /// The target as text, without its password.
    var redacted: String { url.redacted }

    init(_ text: String) throws(StorageError) {
        self.text = text
        url = try Stores.url(text)
        storage = try Stores.catalog.store(at: url)
        UsedStores.insert(url)
    }

    /// Returns why the target cannot take a copy of a store; nil if nothing is known that prevents it. Only reads.
    ///
    /// - Parameters:
    ///   - schema: The model that the target must have.
    ///   - options: The options, with the name of the source.
    /// - Throws: Errors that say nothing about the target, such as a lost connection.
    func obstacle(
        to source: Stores.Opened, _ schema: Schema, _ options: TransferOptions
    ) throws(StorageError) -> StorageError? {
        let access = storage.ability((any ForeignStorage).self)?.foreignAccess
        if access == .readOnly { return .isForeign }
        if let path = storage.ability((any LocalStorage).self)?.fileURL.path, !url.place.isEmpty {
            if let obstacle = obstacle(at: path, to: source) { return obstacle }
            if NewPlace(path).isFree {
                if access == nil { return nil }
                return StorageError(.notFound, "there is no database at this path, and none is created that is used in place")
            }
        }
        do throws(StorageError) {
            let target = try Stores.open(text, acceptsIncompleteCopy: true)
            defer { target.close() }
            try check(target, schema, options)
            return nil
        } catch {
            if error.code == .notFound, access == nil { return nil }
            if error.isRetryable || error.code == .cancelled { throw error }
            return error
        }
    }

    /// Returns why a file cannot be written, or is the source; nil for a target that is not a file.
    func fileObstacle(to source: Stores.Opened) -> StorageError? {
        guard let path = storage.ability((any LocalStorage).self)?.fileURL.path, !url.place.isEmpty else { return nil }
        return obstacle(at: path, to: source)
    }

    /// Returns why a file cannot be written that would be a part of the target; nil for any other.
    func obstacle(toOutput path: String) -> StorageError? {
        func place(_ path: String) -> String { URL(fileURLWithPath: path).standardizedFileURL.resolvingSymlinksInPath().path }
        guard let file = storage.ability((any LocalStorage).self)?.fileURL.path, !url.place.isEmpty else { return nil }
        let parts = ["", ".partial", ".partial.transfer"].flatMap { name in Stores.suffixes.map { place(file + name + $0) } }
        if !parts.contains(place(path)) { return nil }
        return StorageError(.invalidConfiguration, "\(path) would be a file of the target; write to another file")
    }

    private func obstacle(at path: String, to source: Stores.Opened) -> StorageError? {
        let sourcePath = source.store.ability((any LocalStorage).self)?.fileURL.path
        if let file = Stores.identity(path), file == sourcePath.flatMap(Stores.identity) {
            return StorageError(.invalidConfiguration, "the source and the target are the same store; choose a new target")
        }
        return NewPlace(path).problem.map { StorageError(.notFound, $0) }
    }

    private func check(
        _ target: Stores.Opened, _ schema: Schema, _ options: TransferOptions
    ) throws(StorageError) {
        try TransferEngine.check(target.store.schema, takes: schema, isMapped: !options.mapping.isEmpty)
        let reader = try target.store.beginRead(ReadOptions(limit: Interruption.limit))
        defer { reader.end() }
        try Peers(reader).checkIsAlone()
        if options.existing != .fail { return }
        guard case .none = try options.progress(in: reader) else { return }
        try Contents(reader).checkIsEmpty()
        if options.includesHistory, target.store.capabilities.contains(.history) {
            try PastTransactions.checkAreMissing(in: reader, option: "transfer without --history")
        }
    }

    /// Opens the target for reading; nil if it does not exist.
    func existing() throws(StorageError) -> Stores.Opened? {
        do throws(StorageError) { return try Stores.open(text) } catch  where error.code == .notFound { return nil }
    }

    /// Returns the number of objects of the target; nil if it does not exist.
    func count() throws(StorageError) -> Int? {
        guard let target = try existing() else { return nil }
        defer { target.close() }
        return try target.count()
    }

    /// The target of a running transfer.
    struct Opened {
        let opened: Stores.Opened
        /// Whether the copy is made in steps.
        let isInSteps: Bool

        /// Closes the store after failed work.
        ///
        /// - Returns: Whether what was copied remains: a copy in steps does after an error that a repetition may not meet again.
        func abandon(_ error: StorageError, _ options: TransferOptions) -> Bool {
            if !isInSteps {
                opened.abandon()
                return false
            }
            let isTemporary = error.isRetryable || error.code == .cancelled || error.code == .commitOutcomeUnknown
            switch owner(options) {
            case .nobody: opened.abandon()
            case .others: opened.keep()
            case .transfer:
                if !isTemporary { discard() } else { opened.keep() }
                return isTemporary
            case .unknown:
                opened.keep()
                return isTemporary
            }
            return false
        }

        /// Removes the store, which contains nothing but what this transfer or its interrupted predecessor has copied.
        func discard() {
            if opened.made == nil { try? opened.store.erase() }
            opened.abandon()
        }

        /// Returns whether the transfer may remove the copy of its interrupted predecessor, because the source has changed since.
        func isOutdated(_ error: StorageError, _ options: TransferOptions) -> Bool {
            switch error.code {
            case .incompleteCopy: return owner(options) == .transfer
            // It was complete, but has not been given its name.
            case .alreadyExists: return opened.made != nil && (try? reading { try options.progress(in: $0) }) == .complete
            default: return false
            }
        }

        private enum Owner {
            case nobody, transfer, others, unknown
        }

        /// Returns whose contents the store has.
        private func owner(_ options: TransferOptions) -> Owner {
            do {
                return try reading { reader in
                    if try options.isOwn(reader) { return try isUnused(reader) ? .nobody : .transfer }
                    if try !opened.state.wasCreated || reader.note(CopyNote.incomplete) != nil { return .others }
                    return .nobody
                }
            } catch { return .unknown }
        }

        /// Returns whether the store was created for this transfer, which has copied nothing to it.
        private func isUnused(_ reader: ReadSession) throws -> Bool {
            guard opened.state.wasCreated, let record = try CopyRecord(in: reader) else { return false }
            return record.tables.isEmpty && !record.isLive
        }

        private func reading<R>(_ body: (ReadSession) throws -> R) throws -> R {
            let reader = try opened.store.beginRead()
            defer { reader.end() }
            return try body(reader)
        }
    }

    /// Opens the target, or creates it.
    func open(_ schema: Schema, _ options: TransferOptions) throws(StorageError) -> Opened {
        let isNew = options.existing == .fail
        // A new file has another name until it is complete.
        let notes = isNew && storage.ability((any RemoteStorage).self) != nil ? try options.notes(for: schema) : [:]
        let opened = try Stores.create(text, schema, continuesCopy: isNew, leavesRoomForHistory: options.includesHistory, notes: notes)
        // A store in memory ends with the process, and a database of another program is never seen half filled.
        if !isNew || opened.store.ability((any ForeignStorage).self)?.foreignAccess != nil {
            return Opened(opened: opened, isInSteps: false)
        }
        if opened.made != nil { return Opened(opened: opened, isInSteps: true) }
        if opened.state.wasCreated { return Opened(opened: opened, isInSteps: opened.store.ability((any RemoteStorage).self) != nil) }
        do throws(StorageError) {
            let reader = try opened.store.beginRead()
            defer { reader.end() }
            return Opened(opened: opened, isInSteps: try options.progress(in: reader) != .none)
        } catch {
            opened.keep()
            throw error
        }
    }

    /// The path of a file or folder that is created if it is missing.
    private struct NewPlace {
        /// Whether nothing is there, except perhaps an empty file, which a store takes as its own.
        var isFree = false
        /// Why nothing can be created or opened there.
        var problem: String?

        init(_ path: String) {
            var link = stat(), file = stat()
            let folder = URL(fileURLWithPath: path).deletingLastPathComponent().path
            if lstat(path, &link) == 0 {
                if stat(path, &file) != 0 {
                    problem = "\(path) is a symbolic link to a file that does not exist"
                } else {
                    isFree = file.st_mode & S_IFMT == S_IFREG && file.st_size == 0
                    if access(path, W_OK) != 0 { problem = "\(path) cannot be written; check its permissions" }
                }
            } else if errno != ENOENT {
                problem = "\(path) cannot be reached: \(String(cString: strerror(errno)))"
            } else if stat(folder, &file) != 0 {
                problem = "the folder \(folder) does not exist; create it first"
            } else if file.st_mode & S_IFMT != S_IFDIR {
                problem = "\(folder) is not a folder"
            } else if access(folder, W_OK | X_OK) != 0 {
                problem = "nothing can be created in the folder \(folder); check its permissions"
            } else {
                isFree = true
            }
        }
    }
}

#if LMDB
internal import PolystoreFoundation
internal import PolystoreKeyValue
public import PolystoreStorage

extension LMDBStore: WithdrawableStorage {
    /// The note with the number of the folder that was created for the store.
    private static let folderNote = "folder.made"

    /// Notes that the folder was created for the store.
    func noteFolder() throws(StorageError) {
        let writer = try beginWrite(WriteOptions())
        defer { writer.end() }
        try writer.setNote(Self.folderNote, engine.location.folderNumber)
        _ = try writer.commit(CommitRecord())
    }

    /// Closes the file and removes it together with its lock file; also its folder, if it was created for the store and is otherwise empty.
    /// A symbolic link to the file stays.
    ///
    /// - Throws: `readOnly` if the store refuses changes; `notADatabase` if the file is not a store; `unsupported` if it also has data of
    ///   another program. Nothing is removed then. While another instance in this process has the file open, its other maps are not looked
    ///   at, because LMDB cannot open a file twice in one process.
    public func erase() throws(StorageError) {
        if isReadOnly || engine.isReadOnly { throw StorageError(.readOnly, "the store was opened read-only") }
        let location = engine.location
        guard try location.hasFile() else { return try close() }
        if access(location.dataPath, W_OK) != 0 { throw LMDBError.error(errno) }
        let ownsFolder: Bool
        do throws(StorageError) { ownsFolder = try self.ownsFolder(location) } catch {
            try? close()
            throw error
        }
        try close()
        try location.remove()
        if ownsFolder { rmdir(location.folder) }
    }

    /// Returns whether the folder was created for the store.
    ///
    /// - Throws: `notADatabase` if the file is not a store; `unsupported` if it also has data of another program.
    private func ownsFolder(_ location: LMDBLocation) throws(StorageError) -> Bool {
        if !engine.isOpen {
            do throws(StorageError) { _ = try store.open(OpenRequest(schema: nil, createIfMissing: false, readOnly: true)) } catch {
                // Another instance in this process has the store open.
                if error.code == .alreadyExists { return false }
                throw error
            }
        }
        // Before the other maps, which are those of a newer version if another process has migrated the store.
        let noted = try folderNote()
        if try engine.hasOtherData() {
            throw StorageError(
                .unsupported,
                "the LMDB file also contains data of another program; copy that data elsewhere, and remove it from the file first")
        }
        guard location.ownsFolder, let noted else { return false }
        return noted == location.folderNumber
    }

    private func folderNote() throws(StorageError) -> Data? {
        let reader = try beginRead(ReadOptions())
        defer { reader.end() }
        return try reader.note(Self.folderNote)
    }

    package func withdraw() throws(StorageError) {
        defer { try? close() }
        guard engine.isOpen, let origin = engine.origin else { return }
        let location = engine.location
        try store.ifUnused(notes: origin.madeFolder ? 1 : 0) { () throws(StorageError) in
            try location.remove(returningTo: origin.file)
            if origin.madeFolder { rmdir(location.folder) }
        }
    }
}
#endif

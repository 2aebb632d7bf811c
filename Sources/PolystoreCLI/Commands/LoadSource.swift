internal import Foundation
internal import PolystoreStorage
internal import PolystoreTransfer

/// The files that a load reads: those of a mapping, a single file, or the standard input.
final class LoadSource {
    /// The name of the single file, which errors contain; nil if a mapping names the files.
    let name: String?
    private let folder: URL
    /// A copy of the standard input, which a load may have to read twice.
    private let copy: URL?

    /// Creates the source of a command's arguments. Reads the standard input to its end if it is the file.
    init(file: String?, mapping: String?) throws(StorageError) {
        if file == "-" {
            name = "standard input"
            let copy = FileManager.default.temporaryDirectory.appendingPathComponent("polystore-\(UUID().uuidString)")
            self.copy = copy
            folder = copy.deletingLastPathComponent()
            let output = try AtomicFile(copy.path), input = try Stores.blocks("-")
            do { while let block = try input.block() { try output.write(block) } } catch let error as StorageError { throw error } catch {
                throw StorageError(.inputOutput, "the standard input cannot be read", cause: error)
            }
            try output.finish()
        } else {
            let url = (file ?? mapping).map { URL(fileURLWithPath: $0) }
            name = file == nil ? nil : url?.lastPathComponent
            folder = url?.deletingLastPathComponent() ?? URL(fileURLWithPath: ".")
            copy = nil
        }
    }

    deinit { if let copy { try? FileManager.default.removeItem(at: copy) } }

    /// The name of an entity after the file: `pets.csv.gz` contains objects of `Pets`.
    var entityName: String? {
        guard let name, copy == nil, let base = name.split(separator: ".").first else { return nil }
        return base.prefix(1).uppercased() + base.dropFirst().replacing(/[^\p{L}\p{N}_]/, with: "_")
    }

    /// Starts to read a file.
    func blocks(_ name: String) throws(StorageError) -> FileBlocks {
        try Stores.blocks(copy?.path ?? folder.appendingPathComponent(name).path)
    }
}

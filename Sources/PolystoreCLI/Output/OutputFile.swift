internal import Foundation
internal import PolystoreStorage

/// The output of a command: the standard output, a file, or a compressed file if its name ends with `.gz`.
///
/// A file has its name only when it is complete.
struct OutputFile {
    private let file: AtomicFile?
    private let compressor: Compressor?

    /// Creates an output.
    ///
    /// - Parameter path: The path of the file, or nil for the standard output.
    init(_ path: String?) throws(StorageError) {
        guard let path else {
            (file, compressor) = (nil, nil)
            return
        }
        let file = try Self.naming { () throws(StorageError) in try AtomicFile(path) }
        self.file = file
        compressor = Compression.isNamed(path) ? try Compression.compressor(into: file) : nil
    }

    /// Appends bytes.
    func write(_ bytes: [UInt8]) throws(StorageError) {
        let data = Data(bytes)
        if let compressor { return try compressor.write(data) }
        guard let file else { return try Console.write(data) }
        try Self.naming { () throws(StorageError) in try file.write(data) }
    }

    /// Completes the file.
    func finish() throws(StorageError) {
        try compressor?.finish()
        try Self.naming { () throws(StorageError) in try file?.finish() }
    }

    /// Errors of the file are not those of a store.
    private static func naming<R>(_ body: () throws(StorageError) -> R) throws(StorageError) -> R {
        do throws(StorageError) { return try body() } catch {
            UsedStores.removeAll()
            throw error
        }
    }
}

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
        let file = try AtomicFile(path)
        self.file = file
        compressor = Compression.isNamed(path) ? try Compression.compressor(into: file) : nil
    }

    /// Appends bytes.
    func write(_ bytes: [UInt8]) throws(StorageError) {
        let data = Data(bytes)
        if let compressor { return try compressor.write(data) }
        if let file { try file.write(data) } else { try Console.write(data) }
    }

    /// Completes the file.
    func finish() throws(StorageError) {
        try compressor?.finish()
        try file?.finish()
    }
}

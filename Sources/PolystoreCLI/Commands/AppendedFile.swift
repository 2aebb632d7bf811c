internal import Foundation
internal import PolystoreStorage

/// A file to which lines are added. It keeps what it contains, and is replaced as a whole when it is complete.
final class AppendedFile {
    private let file: AtomicFile
    private let before: Data
    private var lines = Data()

    /// Creates the file, or reads the existing one.
    ///
    /// - Throws: Errors of a path that cannot be used.
    init(_ path: String) throws(StorageError) {
        before = FileManager.default.fileExists(atPath: path) ? try Stores.data(path) : Data()
        file = try AtomicFile(path)
    }

    /// Adds a line, which ends with a newline.
    func add(_ line: [UInt8]) { lines += line }

    /// Completes the file. Lines that are the end of the existing file, because the same work was interrupted before, are not added again.
    func finish() throws(StorageError) {
        let isKnown = before.count >= lines.count && before.suffix(lines.count) == lines
        try file.write(isKnown ? before : before + lines)
        try file.finish()
    }
}

internal import Foundation
internal import PolystoreStorage
internal import PolystoreTransfer

/// Reads and writes gzip files with the program `gzip`, which runs on another core.
enum Compression {
    /// Whether the name of a file says that it is compressed.
    static func isNamed(_ path: String) -> Bool { path.lowercased().hasSuffix(".gz") }

    /// Whether a file begins with the bytes of a gzip file.
    static func isCompressed(_ start: Data) -> Bool { start.starts(with: [0x1f, 0x8b]) }

    /// Returns the decompressed contents of a file, block by block.
    ///
    /// - Throws: `unsupported` if the program is missing. The blocks throw `corrupted` for a damaged file.
    static func decompressed(_ path: String) throws(StorageError) -> FileBlocks {
        let process = try program(["-dc", "--", path]), pipe = Pipe()
        process.standardOutput = pipe
        process.standardError = FileHandle.nullDevice
        try start(process)
        return FileBlocks {
            if let data = try pipe.fileHandleForReading.read(upToCount: 1 << 20), !data.isEmpty { return data }
            process.waitUntilExit()
            if process.terminationStatus == 0 { return nil }
            throw StorageError(.corrupted, "\(path): the compressed file is damaged or incomplete; use another copy of it")
        }
    }

    private static func program(_ arguments: [String]) throws(StorageError) -> Process {
        let folders = ["/usr/bin", "/bin", "/usr/local/bin", "/opt/homebrew/bin"]
        guard let path = folders.map({ $0 + "/gzip" }).first(where: FileManager.default.isExecutableFile) else {
            throw StorageError(.unsupported, "the program gzip is not installed; install it, or use an uncompressed file")
        }
        let process = Process()
        process.executableURL = URL(fileURLWithPath: path)
        process.arguments = arguments
        return process
    }

    private static func start(_ process: Process) throws(StorageError) {
        do { try process.run() } catch {
            throw StorageError(.inputOutput, "the program gzip cannot be started", cause: error)
        }
    }

    /// Starts to compress into a file.
    static func compressor(into file: AtomicFile) throws(StorageError) -> Compressor {
        let process = try program(["-c"])
        let compressor = Compressor(process, file)
        try start(process)
        compressor.begin()
        return compressor
    }
}

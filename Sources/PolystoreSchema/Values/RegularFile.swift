package import Foundation

/// Reads files whose paths users provide. Only regular files are read, because opening or reading a pipe or a device could block forever.
package enum RegularFile {
    /// The reason why a file cannot be read.
    package enum Problem: Error, Equatable {
        case missing
        case folder
        case notRegular
        /// The reason is an error number of the system.
        case unreadable(Int32)
        case tooLarge

        /// A sentence that describes the problem.
        package var sentence: String {
            switch self {
            case .missing: "there is no such file"
            case .folder: "this is a folder; name a file in it"
            case .notRegular: "not a regular file; write the output of a pipe or device to a file first"
            case .unreadable(let reason): "the file cannot be read: \(String(cString: strerror(reason)))"
            case .tooLarge: "the file is too large"
            }
        }
    }

    /// Opens a file for reading.
    package static func open(_ path: String) throws(Problem) -> FileHandle {
        // Without O_NONBLOCK, opening a pipe would wait for a writer.
        let descriptor = Foundation.open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
        guard descriptor >= 0 else { throw errno == ENOENT || errno == ENOTDIR ? .missing : .unreadable(errno) }
        let handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw .unreadable(errno) }
        guard status.st_mode & S_IFMT != S_IFDIR else { throw .folder }
        guard status.st_mode & S_IFMT == S_IFREG else { throw .notRegular }
        return handle
    }

    /// Returns the contents of a file, which must not exceed the given number of bytes.
    package static func data(_ path: String, atMost most: Int? = nil) throws(Problem) -> Data {
        let handle = try open(path)
        defer { try? handle.close() }
        let data: Data?
        do { data = try most.map { try handle.read(upToCount: $0 + 1) } ?? handle.readToEnd() } catch { throw .unreadable(EIO) }
        if let most, data?.count ?? 0 > most { throw .tooLarge }
        return data ?? Data()
    }
}

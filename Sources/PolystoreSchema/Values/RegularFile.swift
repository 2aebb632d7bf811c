package import PolystoreFoundation

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
    ///
    /// - Returns: The file descriptor, which the caller closes.
    package static func open(_ path: String) throws(Problem) -> Int32 {
        // Without O_NONBLOCK, opening a pipe would wait for a writer.
        let descriptor = PolystoreFoundation.open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
        guard descriptor >= 0 else { throw errno == ENOENT || errno == ENOTDIR ? .missing : .unreadable(errno) }
        do throws(Problem) { try check(descriptor) } catch {
            close(descriptor)
            throw error
        }
        return descriptor
    }

    private static func check(_ descriptor: Int32) throws(Problem) {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw .unreadable(errno) }
        guard status.st_mode & S_IFMT != S_IFDIR else { throw .folder }
        guard status.st_mode & S_IFMT == S_IFREG else { throw .notRegular }
    }

    /// Returns the contents of a file, which must not exceed the given number of bytes.
    package static func data(_ path: String, atMost most: Int? = nil) throws(Problem) -> Data {
        let descriptor = try open(path)
        defer { close(descriptor) }
        let data = try bytes(descriptor, atMost: most.map { $0 + 1 } ?? .max)
        if let most, data.count > most { throw .tooLarge }
        return data
    }

    /// Returns the first bytes of a file, or all if it has fewer.
    package static func head(_ path: String, count: Int) throws(Problem) -> Data {
        let descriptor = try open(path)
        defer { close(descriptor) }
        return try bytes(descriptor, atMost: count)
    }

    /// Reads from a file until its end or the given number of bytes.
    private static func bytes(_ descriptor: Int32, atMost most: Int) throws(Problem) -> Data {
        var data = Data()
        // The size of a file of the system, such as /proc/self/maps, is reported as 0.
        var status = stat()
        var step = fstat(descriptor, &status) == 0 ? Int(status.st_size) + 1 : 0
        while data.count < most {
            step = min(max(step, 4096), 1 << 24, most - data.count)
            let start = data.count
            data.count += step
            let count = data.withUnsafeMutableBytes { read(descriptor, $0.baseAddress! + start, step) }
            if count < 0, errno != EINTR { throw .unreadable(EIO) }
            data.count = start + max(count, 0)
            if count == 0 { break }
        }
        return data
    }
}

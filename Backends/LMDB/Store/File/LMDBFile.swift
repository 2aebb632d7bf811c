#if LMDB
internal import Foundation
internal import PolystoreStorage

#if canImport(CDispatch)
// On Linux the members of `stat` are this module's.
internal import CDispatch
#endif

/// The data file of a store, opened beside LMDB: to be looked at without mapping it, and to be locked.
///
/// LMDB has no lock on this file (its own are on the lock file), so that closing the descriptor takes none away.
final class LMDBFile: Sendable {
    /// What a file is, whatever its names are.
    struct Identity: Hashable, Sendable {
        let device: UInt64
        let number: UInt64

        init(_ status: stat) {
            device = UInt64(truncatingIfNeeded: status.st_dev)
            number = UInt64(truncatingIfNeeded: status.st_ino)
        }

        /// What a path leads to; nil for nothing.
        init?(path: String) {
            var status = stat()
            guard stat(path, &status) == 0 else { return nil }
            self.init(status)
        }
    }

    enum Lock: Sendable {
        /// That of the one writer.
        case exclusive
        /// That of readers who cannot be seen in the lock file of LMDB.
        case shared
    }

    /// Microseconds between two attempts to get a lock.
    private static let pause: useconds_t = 200

    let location: LMDBLocation
    let identity: Identity
    /// The permissions of the file.
    let mode: mode_t
    let isReadOnly: Bool
    private let descriptor: Int32

    init(_ location: LMDBLocation, isReadOnly: Bool) throws(StorageError) {
        let descriptor = open(location.dataPath, (isReadOnly ? O_RDONLY : O_RDWR) | O_CLOEXEC)
        guard descriptor >= 0 else { throw LMDBError.error(errno) }
        var status = stat()
        guard fstat(descriptor, &status) == 0 else {
            let code = errno
            close(descriptor)
            throw LMDBError.error(code)
        }
        self.location = location
        self.isReadOnly = isReadOnly
        self.descriptor = descriptor
        identity = Identity(status)
        mode = status.st_mode & 0o666
    }

    deinit { close(descriptor) }

    func size() throws(StorageError) -> UInt64 {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw LMDBError.error(errno) }
        return UInt64(status.st_size)
    }

    /// Fills a buffer with bytes of the file; false where it ends before.
    func read(_ buffer: UnsafeMutableRawBufferPointer, at offset: UInt64) throws(StorageError) -> Bool {
        guard let start = buffer.baseAddress, let offset = off_t(exactly: offset) else { return false }
        var done = 0
        while done < buffer.count {
            let count = pread(descriptor, start + done, buffer.count - done, offset + off_t(done))
            if count == 0 { return false }
            if count > 0 { done += count } else if errno != EINTR { throw LMDBError.error(errno) }
        }
        return true
    }

    /// Waits until everything that was written to the file is on the disk.
    func synchronize() -> Bool { fsync(descriptor) == 0 }

    /// Whether the file is still what its path leads to.
    var isAtPath: Bool {
        get throws(StorageError) {
            var status = stat()
            if stat(location.dataPath, &status) == 0 { return Identity(status) == identity }
            if errno == ENOENT || errno == ENOTDIR { return false }
            throw LMDBError.error(errno)
        }
    }

    /// - Throws: `notFound` when the file was deleted or replaced: what is committed to it then would be lost.
    func checkPath() throws(StorageError) {
        if try isAtPath { return }
        throw StorageError(
            .notFound, "the file of the LMDB store was deleted or replaced while it was open; close the store and open it again")
    }

    /// Whether another process has the file open with LMDB: the whole time it holds a lock on the lock file.
    ///
    /// *Requires*: this process has it not, because looking would take its lock away.
    func isOpenElsewhere() -> Bool {
        let descriptor = open(location.lockPath, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        var lock = flock()
        lock.l_type = Int16(F_WRLCK)
        lock.l_whence = Int16(SEEK_SET)
        lock.l_len = 1
        return fcntl(descriptor, F_GETLK, &lock) != 0 || lock.l_type != Int16(F_UNLCK)
    }

    /// Takes the lock, which belongs to this instance, if it is free.
    func tryLock(_ lock: Lock) throws(StorageError) -> Bool {
        if flock(descriptor, (lock == .exclusive ? LOCK_EX : LOCK_SH) | LOCK_NB) == 0 { return true }
        guard errno == EWOULDBLOCK || errno == EINTR else { throw LMDBError.error(errno) }
        return false
    }

    /// Waits for the lock of the one writer.
    func lock(_ options: WriteOptions) throws(StorageError) { try wait(options) { () throws(StorageError) in try tryLock(.exclusive) } }

    /// Waits until an attempt to get the lock succeeds. It is made again and again: a lock that is waited for has no deadline.
    ///
    /// One who waits stands at a gate that those who come later do not pass: a process that writes without a pause would get the lock each time.
    /// - Throws: `busy` after the timeout; `cancelled` or `timeout` by the limit.
    @inline(never)
    func wait(_ options: WriteOptions, for attempt: () throws(StorageError) -> Bool) throws(StorageError) {
        let end = ContinuousClock.now + .seconds(options.timeout)
        while !setGate(F_WRLCK) { try pause(end, options) }
        defer { _ = setGate(F_UNLCK) }
        while try !attempt() { try pause(end, options) }
    }

    private func pause(_ end: ContinuousClock.Instant, _ options: WriteOptions) throws(StorageError) {
        try options.limit?.check()
        if ContinuousClock.now >= end {
            throw StorageError(.busy, "another process held the store for more than \(options.timeout) seconds; try again")
        }
        usleep(Self.pause)
    }

    /// Closes the gate behind this process, or opens it; false when another stands there. It serves fairness alone: where it cannot be had, or
    /// is lost because another descriptor of the file is closed, the lock still holds.
    private func setGate(_ type: some BinaryInteger) -> Bool {
        var gate = flock()
        gate.l_type = Int16(type)
        gate.l_whence = Int16(SEEK_SET)
        gate.l_len = 1
        return fcntl(descriptor, F_SETLK, &gate) == 0 || (errno != EAGAIN && errno != EACCES && errno != EINTR)
    }

    /// Gives a file that is shorter a size; what is added reads as zeros. A file in which another process writes stays as it is.
    func extend(to size: UInt64) throws(StorageError) {
        guard !isReadOnly, try tryLock(.exclusive) else { return }
        defer { unlock() }
        guard try self.size() < size, let last = off_t(exactly: size - 1) else { return }
        // Not by its size: one that has grown meanwhile would be cut.
        var zero: UInt8 = 0
        if pwrite(descriptor, &zero, 1, last) != 1 { throw LMDBError.error(errno) }
    }

    func unlock() { _ = flock(descriptor, LOCK_UN) }
}
#endif

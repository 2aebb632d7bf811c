#if LMDB
internal import PolystoreFoundation
internal import PolystoreStorage
internal import Synchronization

#if canImport(CDispatch)
// On Linux this module declares the members of `stat`.
internal import CDispatch
#endif

/// The data file of a store, opened separately from LMDB to read it without mapping and to lock it.
///
/// LMDB has no lock on this file (its locks are on the lock file), so closing the descriptor does not drop any.
final class LMDBFile: Sendable {
    /// The identity of a file, independent of its names.
    struct Identity: Hashable, Sendable {
        let device: UInt64
        let number: UInt64

        init(_ status: stat) {
            device = UInt64(truncatingIfNeeded: status.st_dev)
            number = UInt64(truncatingIfNeeded: status.st_ino)
        }

        /// Creates the identity of the file at a path, or nil when there is none.
        init?(path: String) {
            var status = stat()
            guard stat(path, &status) == 0 else { return nil }
            self.init(status)
        }
    }

    enum Lock: Sendable {
        /// The lock of the only writer.
        case exclusive
        /// The lock of readers that LMDB's lock file cannot record.
        case shared
    }

    /// The time between two attempts to get a lock, in microseconds.
    private static let pause: useconds_t = 200

    let location: LMDBLocation
    let identity: Identity
    /// The permissions of the file.
    let mode: mode_t
    let isReadOnly: Bool
    private let descriptor: Int32
    private let isAbandoned = Atomic(false)

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

    /// Fills a buffer with bytes of the file. Returns false if the file ends before.
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

    /// Waits until all data written to the file is on the disk.
    func synchronize() -> Bool { fsync(descriptor) == 0 }

    /// Whether the file is still the one at its path.
    var isAtPath: Bool {
        get throws(StorageError) {
            var status = stat()
            if stat(location.dataPath, &status) == 0 { return Identity(status) == identity }
            if errno == ENOENT || errno == ENOTDIR { return false }
            throw LMDBError.error(errno)
        }
    }

    /// Throws if the file was deleted or replaced.
    ///
    /// - Throws: `notFound`, because commits to the file would be lost.
    func checkPath() throws(StorageError) {
        if try isAtPath { return }
        throw StorageError(
            .notFound, "the file of the LMDB store was deleted or replaced while it was open; close the store and open it again")
    }

    /// Returns whether another process has the file open with LMDB, which holds a lock on the lock file all the time.
    ///
    /// *Requires*: this process does not have the file open, because the check would drop its lock.
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

    /// Takes the lock for this instance if it is free.
    func tryLock(_ lock: Lock) throws(StorageError) -> Bool {
        if flock(descriptor, (lock == .exclusive ? LOCK_EX : LOCK_SH) | LOCK_NB) == 0 { return true }
        guard errno == EWOULDBLOCK || errno == EINTR else { throw LMDBError.error(errno) }
        return false
    }

    /// Waits for the writer's lock.
    func lock(_ options: WriteOptions) throws(StorageError) { try wait(options) { () throws(StorageError) in try tryLock(.exclusive) } }

    /// Waits until an attempt to get the lock succeeds. It repeats the attempt, because waiting for a lock has no deadline.
    ///
    /// A waiting process holds a gate that later processes cannot pass: otherwise a process that writes without a pause would get the lock
    /// each time.
    /// - Throws: `busy` after the timeout; `cancelled` or `timeout` by the limit; `storeClosed` after `abandon`.
    @inline(never)
    func wait(_ options: WriteOptions, for attempt: () throws(StorageError) -> Bool) throws(StorageError) {
        let end = ContinuousClock.now + .seconds(options.timeout)
        while !setGate(F_WRLCK) { try pause(end, options) }
        defer { _ = setGate(F_UNLCK) }
        while try !attempt() { try pause(end, options) }
    }

    /// Ends all waits for locks, because the store is closed.
    func abandon() { isAbandoned.store(true, ordering: .releasing) }

    private func pause(_ end: ContinuousClock.Instant, _ options: WriteOptions) throws(StorageError) {
        try options.limit?.check()
        if isAbandoned.load(ordering: .acquiring) {
            throw StorageError(.storeClosed, "the store was closed while a session waited for the lock of another process")
        }
        if ContinuousClock.now >= end {
            throw StorageError(
                .busy, "another process held the write lock of the LMDB store for more than \(options.timeout) seconds; try again")
        }
        usleep(Self.pause)
    }

    /// Closes or opens the gate. Returns false if another process holds it. The gate only provides fairness: where it is not available, or
    /// is lost because another descriptor of the file is closed, the lock still works.
    private func setGate(_ type: some BinaryInteger) -> Bool {
        var gate = flock()
        gate.l_type = Int16(type)
        gate.l_whence = Int16(SEEK_SET)
        gate.l_len = 1
        return fcntl(descriptor, F_SETLK, &gate) == 0 || (errno != EAGAIN && errno != EACCES && errno != EINTR)
    }

    /// Extends a file that is shorter than `size` with zeros. A file to which another process writes is not changed.
    func extend(to size: UInt64) throws(StorageError) {
        guard !isReadOnly, try tryLock(.exclusive) else { return }
        defer { unlock() }
        guard try self.size() < size, let last = off_t(exactly: size - 1) else { return }
        // It does not set the size, which would cut a file that has grown in the meantime.
        var zero: UInt8 = 0
        if pwrite(descriptor, &zero, 1, last) != 1 { throw LMDBError.error(errno) }
    }

    func unlock() { _ = flock(descriptor, LOCK_UN) }
}
#endif

#if canImport(Darwin)
internal import Darwin
#else
internal import Glibc
#endif

/// Wakes a thread that waits in the kernel: a pipe, whose reading end can be waited for beside sockets and files.
public final class WakeUp: Sendable {
    /// What can be read from once somebody has called; -1 where the process has no descriptors left.
    public let descriptor: Int32
    private let writing: Int32

    /// A pipe that nobody has written to.
    public init() {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else {
            descriptor = -1
            writing = -1
            return
        }
        for end in ends {
            _ = fcntl(end, F_SETFL, O_NONBLOCK)
            _ = fcntl(end, F_SETFD, FD_CLOEXEC)
        }
        descriptor = ends[0]
        writing = ends[1]
    }

    deinit {
        if descriptor >= 0 { close(descriptor) }
        if writing >= 0 { close(writing) }
    }

    /// Wakes the thread, now or when it next waits. A pipe that is full wakes it as well.
    public func call() {
        var byte: UInt8 = 1
        _ = write(writing, &byte, 1)
    }

    /// Forgets the calls so far.
    public func clear() {
        withUnsafeTemporaryAllocation(byteCount: 64, alignment: 1) { bytes in
            while read(descriptor, bytes.baseAddress, bytes.count) == bytes.count {}
        }
    }

    /// Waits until somebody calls, or there is something to read from another descriptor, or so many milliseconds have passed.
    public func wait(orFor other: Int32, milliseconds: Int32) {
        var descriptors = [pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)]
        // A negative descriptor is left out by the kernel.
        descriptors.append(pollfd(fd: other, events: Int16(POLLIN), revents: 0))
        _ = poll(&descriptors, 2, milliseconds)
    }
}

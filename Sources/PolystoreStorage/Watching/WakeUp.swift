#if canImport(Darwin)
internal import Darwin
#else
internal import Glibc
#endif

/// Wakes a thread that waits in the kernel. It is a pipe, whose reading end can be polled together with sockets and files.
package final class WakeUp: Sendable {
    /// The descriptor that becomes readable after a call of `call`, or -1 if the process has no descriptors left.
    package let descriptor: Int32
    private let writing: Int32

    /// Creates an empty pipe.
    package init() {
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

    /// Wakes the thread, now or when it next waits. A full pipe wakes it as well.
    package func call() {
        var byte: UInt8 = 1
        _ = write(writing, &byte, 1)
    }

    /// Discards the calls so far.
    package func clear() {
        withUnsafeTemporaryAllocation(byteCount: 64, alignment: 1) { bytes in
            while read(descriptor, bytes.baseAddress, bytes.count) == bytes.count {}
        }
    }

    /// Waits until `call` is called, another descriptor is readable, or the given number of milliseconds has passed.
    package func wait(orFor other: Int32, milliseconds: Int32) {
        var descriptors = [pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)]
        // The kernel ignores a negative descriptor.
        descriptors.append(pollfd(fd: other, events: Int16(POLLIN), revents: 0))
        _ = poll(&descriptors, 2, milliseconds)
    }
}

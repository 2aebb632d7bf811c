internal import PolystoreFoundation

/// The file descriptors 0 to 2, to which programs write messages and from which they read answers.
package enum StandardStreams {
    /// Opens those that the program was started without, so that no file of a store gets such a number: the next message would be written
    /// into it. Reading from them ends at once and writing to them fails.
    package static func reserve() {
        for stream in Int32(0)...2 where fcntl(stream, F_GETFD) < 0 && errno == EBADF {
            // The kernel gives the lowest free number, which is this one unless another thread is faster.
            let descriptor = open("/dev/null", O_RDONLY)
            if descriptor > 2 { close(descriptor) }
        }
    }
}

/// Threads of the system, without Foundation's `Thread`, which FoundationEssentials lacks and which does not report that the system cannot
/// provide one.
package enum Threads {
    /// The identity of a thread, which a later thread can get after its end.
    package struct ID: Hashable, Sendable {
        private let number: UInt

        /// The identity of the thread that calls.
        package static var current: ID {
            #if canImport(Glibc)
            ID(number: pthread_self())
            #else
            ID(number: UInt(bitPattern: pthread_self()))
            #endif
        }
    }

    /// Blocks the calling thread.
    package static func pause(seconds: Double) {
        guard seconds > 0 else { return }
        let whole = min(seconds.rounded(.down), 1e9)
        var rest = timespec(tv_sec: time_t(whole), tv_nsec: min(999_999_999, Int(min(seconds - whole, 1) * 1e9)))
        var left = timespec()
        while nanosleep(&rest, &left) != 0, errno == EINTR { rest = left }
    }

    /// Runs a closure on a new thread, which ends with it.
    ///
    /// - Parameter name: The name of the thread in debuggers, at most 15 bytes.
    /// - Returns: False if the system cannot provide a thread.
    package static func start(named name: String, _ body: @escaping @Sendable () -> Void) -> Bool {
        withUnsafeTemporaryAllocation(of: pthread_attr_t.self, capacity: 1) { attributes in
            guard let attributes = attributes.baseAddress, pthread_attr_init(attributes) == 0 else { return false }
            defer { pthread_attr_destroy(attributes) }
            // Deep object graphs recurse; the default of secondary threads is 512 KB on macOS.
            pthread_attr_setstacksize(attributes, 8 << 20)
            pthread_attr_setdetachstate(attributes, Int32(PTHREAD_CREATE_DETACHED))
            let start = Unmanaged.passRetained(Start(name: name, body: body)), code = create(attributes, start.toOpaque())
            if code != 0 { start.release() }
            return code == 0
        }
    }

    private final class Start: Sendable {
        private let name: String
        private let body: @Sendable () -> Void

        init(name: String, body: @escaping @Sendable () -> Void) {
            self.name = name
            self.body = body
        }

        /// The entry function of a thread.
        static func run(_ pointer: UnsafeMutableRawPointer) {
            let start = Unmanaged<Start>.fromOpaque(pointer).takeRetainedValue()
            setName(start.name)
            start.body()
        }
    }

    private static func setName(_ name: String) {
        #if canImport(Darwin)
        pthread_setname_np(name)
        #else
        // The function of the C library is not in Swift's module of it.
        let file = open("/proc/thread-self/comm", O_WRONLY | O_CLOEXEC)
        if file < 0 { return }
        _ = write(file, name, name.utf8.count)
        close(file)
        #endif
    }

    #if canImport(Darwin)
    private static func create(_ attributes: UnsafePointer<pthread_attr_t>, _ start: UnsafeMutableRawPointer) -> Int32 {
        var thread: pthread_t?
        return pthread_create(
            &thread, attributes,
            { start in
                autoreleasepool { Start.run(start) }
                return nil
            }, start)
    }
    #else
    private static func create(_ attributes: UnsafePointer<pthread_attr_t>, _ start: UnsafeMutableRawPointer) -> Int32 {
        var thread = pthread_t()
        return pthread_create(
            &thread, attributes,
            { start in
                start.map(Start.run)
                return nil
            }, start)
    }
    #endif
}

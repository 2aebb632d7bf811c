internal import Foundation
internal import Synchronization

/// A thread that looks at a store again whenever its files change.
///
/// The system tells of writes (inotify, kqueue). A store may show a commit only some time after its last write, as when it waits for the
/// disk in between: so after a change it looks again at growing intervals. Where the system tells nothing, as on some file systems of
/// networks, it looks once a second.
public final class FileWatch: Sendable {
    /// What is waited between two looks after a change, in milliseconds; what took longer to show is found by the slow look.
    private static let pauses: [Int32] = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512]
    private static let slowPause: Int32 = 1000
    /// The least time between two looks while changes follow each other closely, in seconds.
    private static let closest = 0.001

    private let isStopped = Atomic(false)
    private let lookCount = Atomic(0)
    private let ended = DispatchGroup()
    private let wakeUp = WakeUp()
    private let thread = Mutex<ObjectIdentifier?>(nil)

    /// Begins to watch files of one folder, which need not be there. They are found again under the paths that they have now.
    ///
    /// - Parameter look: Looks at the store; called on a thread of its own.
    public init(_ paths: [String], look: @escaping @Sendable () -> Void) {
        ended.enter()
        let thread = Thread { self.run(paths, look) }
        thread.name = "polystore-files"
        thread.start()
    }

    /// How often it has looked; tests count it.
    public var looks: Int { lookCount.load(ordering: .relaxed) }

    /// The path of a file as the system knows it: from the root, and without links.
    public static func realPath(_ path: String) -> String {
        guard let real = realpath(path, nil) else { return URL(fileURLWithPath: path).standardizedFileURL.path }
        defer { free(real) }
        return String(cString: real)
    }

    /// Ends the watch and waits for the look that is under way, unless it is itself what ends it.
    public func stop() {
        isStopped.store(true, ordering: .releasing)
        wakeUp.call()
        if thread.withLock({ $0 }) != ObjectIdentifier(Thread.current) { ended.wait() }
    }

    private var isRunning: Bool { !isStopped.load(ordering: .acquiring) }

    private func run(_ paths: [String], _ look: () -> Void) {
        thread.withLock { $0 = ObjectIdentifier(Thread.current) }
        defer { ended.leave() }
        let events = FileEvents(paths, wakeUp)
        var step = Self.pauses.startIndex, last = DispatchTime.now()
        while isRunning {
            let isChanged = events.wait(milliseconds: step < Self.pauses.endIndex ? Self.pauses[step] : Self.slowPause)
            if !isRunning { return }
            if isChanged {
                let passed = Double(DispatchTime.now().uptimeNanoseconds - last.uptimeNanoseconds) / 1e9
                if passed < Self.closest { Thread.sleep(forTimeInterval: Self.closest - passed) }
                step = Self.pauses.startIndex
            } else {
                step = min(step + 1, Self.pauses.endIndex)
            }
            lookCount.add(1, ordering: .relaxed)
            look()
            last = .now()
        }
    }
}

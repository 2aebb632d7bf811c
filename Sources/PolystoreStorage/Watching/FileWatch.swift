internal import PolystoreFoundation
internal import Synchronization

/// A thread that polls a store whenever its files change.
///
/// The system reports writes (inotify, kqueue). A commit may become visible only some time after the last write of the store, for example
/// if the store waits for the disk in between. After a change the thread therefore polls again at growing intervals. If the system reports
/// no events, as on some network file systems, the thread polls once a second.
package final class FileWatch: Sendable {
    /// The pauses between polls after a change, in milliseconds. The slow poll finds a commit that takes longer to become visible.
    private static let pauses: [Int32] = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512]
    private static let slowPause: Int32 = 1000
    /// The minimum time between two polls while changes follow each other closely, in seconds.
    private static let closest = 0.001

    private let isStopped = Atomic(false)
    private let lookCount = Atomic(0)
    private let ended = DispatchGroup()
    private let wakeUp = WakeUp()
    private let thread = Mutex<Threads.ID?>(nil)

    /// Starts to watch files of one folder, which need not exist. Replaced files are found again under the same paths.
    ///
    /// - Parameter look: Polls the store. Called on a thread of the watch.
    package init(_ paths: [String], look: @escaping @Sendable () -> Void) {
        ended.enter()
        if !Threads.start(named: "polystore-files", { self.run(paths, look) }) { ended.leave() }
    }

    /// The number of polls. Tests read it.
    package var looks: Int { lookCount.load(ordering: .relaxed) }

    /// Returns the absolute path of a file with symbolic links resolved.
    package static func realPath(_ path: String) -> String {
        guard let real = realpath(path, nil) else { return URL(fileURLWithPath: path).standardizedFileURL.path }
        defer { free(real) }
        return String(cString: real)
    }

    /// Ends the watch and waits for a poll in progress, unless it is called by that poll.
    package func stop() {
        isStopped.store(true, ordering: .releasing)
        wakeUp.call()
        if thread.withLock({ $0 }) != Threads.ID.current { ended.wait() }
    }

    private var isRunning: Bool { !isStopped.load(ordering: .acquiring) }

    private func run(_ paths: [String], _ look: () -> Void) {
        thread.withLock { $0 = Threads.ID.current }
        defer { ended.leave() }
        let events = FileEvents(paths, wakeUp)
        var step = Self.pauses.startIndex, last = DispatchTime.now()
        while isRunning {
            let isChanged = events.wait(milliseconds: step < Self.pauses.endIndex ? Self.pauses[step] : Self.slowPause)
            if !isRunning { return }
            if isChanged {
                let passed = Double(DispatchTime.now().uptimeNanoseconds - last.uptimeNanoseconds) / 1e9
                if passed < Self.closest { Threads.pause(seconds: Self.closest - passed) }
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

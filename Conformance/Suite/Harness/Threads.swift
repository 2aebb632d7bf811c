internal import Foundation

/// Runs work on threads of their own: `concurrentPerform` would run no more at once than the machine has cores.
enum Threads {
    /// Calls `body` with each number below `count`, all at once, and waits for the last.
    static func run(_ count: Int, _ body: @escaping @Sendable (Int) -> Void) {
        let group = DispatchGroup()
        for index in 0..<count {
            group.enter()
            let thread = Thread {
                body(index)
                group.leave()
            }
            thread.stackSize = 8 << 20
            thread.start()
        }
        group.wait()
    }
}

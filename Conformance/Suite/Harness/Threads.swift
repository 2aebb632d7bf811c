internal import Foundation

/// A runner for work on separate threads: `concurrentPerform` would run only as many at once as the machine has cores.
enum Threads {
    /// Calls `body` with each number below `count`, all at the same time, and waits for the last one.
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

    /// Calls `body` with each number below `count`, in ascending order, on a number of threads, and waits for the last one. No number is
    /// begun after a call has returned false.
    static func run(_ count: Int, on threads: Int, _ body: @escaping @Sendable (Int) -> Bool) {
        let next = SharedValue(0)
        run(min(threads, count)) { _ in
            while true {
                let number = next.withLock { next in
                    defer { next += 1 }
                    return next
                }
                if number >= count { return }
                if !body(number) { next.withLock { $0 = count } }
            }
        }
    }
}

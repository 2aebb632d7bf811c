internal import Foundation
internal import Polystore
internal import Synchronization

/// The closures to call after the commits of a context.
final class CommitObservers: Sendable {
    private struct State: Sendable {
        var next = 0
        var bodies: [Int: @Sendable () -> Void] = [:]
    }

    private let state = Mutex(State())

    func add(_ body: @escaping @Sendable () -> Void) -> CommitObservation {
        let number = state.withLock { state in
            state.next += 1
            state.bodies[state.next] = body
            return state.next
        }
        return CommitObservation { [weak self] in self?.remove(number) }
    }

    private func remove(_ number: Int) {
        // The closure is released outside the lock: it may hold another observation, which ends in this method as well.
        _ = state.withLock { $0.bodies.removeValue(forKey: number) }
    }

    func didCommit() { for body in state.withLock({ $0.bodies.sorted { $0.key < $1.key }.map(\.value) }) { body() } }
}

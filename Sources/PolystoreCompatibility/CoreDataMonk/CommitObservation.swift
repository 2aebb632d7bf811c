internal import Foundation
internal import Polystore
internal import Synchronization

/// An observation that ends when it is released.
public final class CommitObservation: Sendable {
    private let end: @Sendable () -> Void
    init(_ end: @escaping @Sendable () -> Void) { self.end = end }
    deinit { end() }
}

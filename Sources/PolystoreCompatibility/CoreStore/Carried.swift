internal import Dispatch
internal import Polystore

/// A container that passes a value that is not Sendable to the only thread that uses it.
///
/// Unchecked: the content was `sending` when it was stored, or comes from a transaction that has ended, so that no other code holds a
/// reference to it.
struct Carried<Content>: @unchecked Sendable {
    let content: Content
    init(_ content: Content) { self.content = content }
}

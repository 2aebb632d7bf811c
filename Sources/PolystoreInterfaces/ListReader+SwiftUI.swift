#if canImport(SwiftUI)
public import Polystore
public import SwiftUI

/// A view of a list, which follows its changes.
public struct ListReader<Object: ManagedObject, Content: View>: View {
    private let publisher: ListPublisher<Object>
    private let content: (ListSnapshot<Object>) -> Content

    /// Creates a view of the snapshots of a publisher. `content` creates the view of a snapshot.
    public init(_ publisher: ListPublisher<Object>, @ViewBuilder content: @escaping (ListSnapshot<Object>) -> Content) {
        self.publisher = publisher
        self.content = content
    }

    /// The result of `content` for the newest snapshot. Reading it observes the publisher.
    public var body: some View { content(publisher.snapshot) }
}
#endif

#if canImport(SwiftUI)
public import Polystore
public import SwiftUI

/// A view of an object, which follows its changes.
public struct ObjectReader<Object: ManagedObject, Content: View, Placeholder: View>: View {
    private let publisher: ObjectPublisher<Object>?
    private let content: (ObjectSnapshot<Object>) -> Content
    private let placeholder: () -> Placeholder

    /// Creates a view of the snapshots of a publisher. `placeholder` replaces it while there is no object.
    public init(
        _ publisher: ObjectPublisher<Object>?, @ViewBuilder content: @escaping (ObjectSnapshot<Object>) -> Content,
        @ViewBuilder placeholder: @escaping () -> Placeholder
    ) {
        self.publisher = publisher
        self.content = content
        self.placeholder = placeholder
    }

    /// The result of `content` for the newest snapshot.
    public var body: some View {
        if let snapshot = publisher?.snapshot { content(snapshot) } else { placeholder() }
    }
}

extension ObjectReader where Placeholder == EmptyView {
    /// Creates a view of the snapshots of a publisher, empty while there is no object.
    public init(_ publisher: ObjectPublisher<Object>?, @ViewBuilder content: @escaping (ObjectSnapshot<Object>) -> Content) {
        self.init(publisher, content: content, placeholder: { EmptyView() })
    }
}
#endif

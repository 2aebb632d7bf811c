// Not compiled by the project's CI

#if canImport(SwiftUI)
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

/// The newest snapshot of a list as a property of a view, which SwiftUI updates with it.
@propertyWrapper public struct ListState<Object: ManagedObject>: DynamicProperty {
    /// The publisher.
    public let projectedValue: ListPublisher<Object>

    /// Creates a property for the snapshots of a publisher.
    public init(_ publisher: ListPublisher<Object>) { projectedValue = publisher }

    /// The newest snapshot.
    public var wrappedValue: ListSnapshot<Object> { projectedValue.snapshot }
}

/// The newest snapshot of an object as a property of a view, which SwiftUI updates with it; nil while there is no object.
@propertyWrapper public struct ObjectState<Object: ManagedObject>: DynamicProperty {
    /// The publisher.
    public let projectedValue: ObjectPublisher<Object>?

    /// Creates a property for the snapshots of a publisher.
    public init(_ publisher: ObjectPublisher<Object>?) { projectedValue = publisher }

    /// The newest snapshot.
    public var wrappedValue: ObjectSnapshot<Object>? { projectedValue?.snapshot }
}

private struct DataStackKey: EnvironmentKey {
    static let defaultValue: DataStack? = nil
}

extension EnvironmentValues {
    /// The stack of the views.
    public var dataStack: DataStack? {
        get { self[DataStackKey.self] }
        set { self[DataStackKey.self] = newValue }
    }
}

extension View {
    /// Sets the stack of the view and its subviews: `@Environment(\.dataStack)`.
    public func dataStackEnvironment(_ stack: DataStack) -> some View { environment(\.dataStack, stack) }
}
#endif

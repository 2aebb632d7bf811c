// Not built by our CI

#if canImport(SwiftUI)
public import SwiftUI

/// Shows a list, and each next one.
public struct ListReader<Object: ManagedObject, Content: View>: View {
    private let publisher: ListPublisher<Object>
    private let content: (ListSnapshot<Object>) -> Content

    /// A view of what a publisher publishes; `content` makes it of a snapshot.
    public init(_ publisher: ListPublisher<Object>, @ViewBuilder content: @escaping (ListSnapshot<Object>) -> Content) {
        self.publisher = publisher
        self.content = content
    }

    /// What `content` makes of the newest snapshot: to read it is to follow it.
    public var body: some View { content(publisher.snapshot) }
}

/// Shows an object, and what becomes of it.
public struct ObjectReader<Object: ManagedObject, Content: View, Placeholder: View>: View {
    private let publisher: ObjectPublisher<Object>?
    private let content: (ObjectSnapshot<Object>) -> Content
    private let placeholder: () -> Placeholder

    /// A view of what a publisher publishes; `placeholder` takes its place while there is no object.
    public init(
        _ publisher: ObjectPublisher<Object>?, @ViewBuilder content: @escaping (ObjectSnapshot<Object>) -> Content,
        @ViewBuilder placeholder: @escaping () -> Placeholder
    ) {
        self.publisher = publisher
        self.content = content
        self.placeholder = placeholder
    }

    /// What `content` makes of the newest snapshot.
    public var body: some View {
        if let snapshot = publisher?.snapshot { content(snapshot) } else { placeholder() }
    }
}

extension ObjectReader where Placeholder == EmptyView {
    /// A view of what a publisher publishes; nothing while there is no object.
    public init(_ publisher: ObjectPublisher<Object>?, @ViewBuilder content: @escaping (ObjectSnapshot<Object>) -> Content) {
        self.init(publisher, content: content, placeholder: { EmptyView() })
    }
}

/// The newest snapshot of a list as a property of a view, which is made anew with it.
@propertyWrapper public struct ListState<Object: ManagedObject>: DynamicProperty {
    /// The publisher.
    public let projectedValue: ListPublisher<Object>

    /// What a publisher publishes.
    public init(_ publisher: ListPublisher<Object>) { projectedValue = publisher }

    /// The newest snapshot.
    public var wrappedValue: ListSnapshot<Object> { projectedValue.snapshot }
}

/// The newest snapshot of an object as a property of a view, which is made anew with it; nil while there is no object.
@propertyWrapper public struct ObjectState<Object: ManagedObject>: DynamicProperty {
    /// The publisher.
    public let projectedValue: ObjectPublisher<Object>?

    /// What a publisher publishes.
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
    /// Gives the view, and those in it, a stack: `@Environment(\.dataStack)`.
    public func dataStackEnvironment(_ stack: DataStack) -> some View { environment(\.dataStack, stack) }
}
#endif

#if canImport(SwiftUI)
public import Polystore
public import SwiftUI

/// The newest snapshot of a list as a property of a view, which SwiftUI updates with it.
@propertyWrapper public struct ListState<Object: ManagedObject>: DynamicProperty {
    /// The publisher.
    public let projectedValue: ListPublisher<Object>

    /// Creates a property for the snapshots of a publisher.
    public init(_ publisher: ListPublisher<Object>) { projectedValue = publisher }

    /// The newest snapshot.
    public var wrappedValue: ListSnapshot<Object> { projectedValue.snapshot }
}
#endif

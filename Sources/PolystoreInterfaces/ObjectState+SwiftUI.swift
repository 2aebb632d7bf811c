#if canImport(SwiftUI)
public import Polystore
public import SwiftUI

/// The newest snapshot of an object as a property of a view, which SwiftUI updates with it; nil while there is no object.
@propertyWrapper public struct ObjectState<Object: ManagedObject>: DynamicProperty {
    /// The publisher.
    public let projectedValue: ObjectPublisher<Object>?

    /// Creates a property for the snapshots of a publisher.
    public init(_ publisher: ObjectPublisher<Object>?) { projectedValue = publisher }

    /// The newest snapshot.
    public var wrappedValue: ObjectSnapshot<Object>? { projectedValue?.snapshot }
}
#endif

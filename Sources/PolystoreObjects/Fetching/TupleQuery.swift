internal import PolystoreStorage

/// A request for tuples.
public struct TupleQuery<Object: ManagedObject, each Value: AttributeValue>: Sendable {
    let query: AttributesQuery<Object>
}

public import Polystore

/// The types that a query of CoreStore can return. A program's own types conform by declaring it.
public typealias QueryableAttributeType = AttributeValue

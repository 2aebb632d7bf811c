internal import PolystoreStorage

/// The identity of an object of any class.
protocol UntypedIdentity {
    var key: ObjectKey { get }
}

extension ObjectID: UntypedIdentity {}

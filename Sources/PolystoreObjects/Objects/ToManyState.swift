internal import PolystoreStorage

/// The destination keys of a to-many relationship of one object, once they are known.
package typealias ToManyState = MemberList<Int64>

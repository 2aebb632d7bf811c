package import PolystoreStorage

/// The stores whose commits could not be read, with the errors.
package typealias UnreadStores = [Int: StorageError]

internal import PolystoreStorage

/// A decoder of row keys, for engines that have to return the last row key of a map.
public enum RowKeyBytes {
    /// Returns the row key that eight bytes encode.
    public static func key(_ bytes: UnsafeRawBufferPointer) -> Int64 { KeyBytes.key(bytes) }
}

#if LMDB
internal import CLMDB
internal import PolystoreKeyValue
internal import PolystoreStorage

/// The settings with which a program opens a file.
struct LMDBSettings: Sendable {
    /// The maximum size of the map in bytes. The complete size is mapped immediately if the address space allows, which costs nothing;
    /// otherwise the map begins smaller and grows.
    let mapSize: Int
    /// The size in bytes of the first map to try.
    let firstMap: Int
    let durability: Durability
    let check: LMDBCheck.Extent
}
#endif

internal import PolystoreStorage

/// The description of how objects of a table are written in place, before the slots of the entity are known.
package struct CatalogWriting: Sendable {
    let name: String
    let source: String
    let key: String
    var columns: [String: InPlaceTables.Column] = [:]
}

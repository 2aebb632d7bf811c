#if Macros
import PolystoreInMemory
import PolystoreMacros
import Testing

@Model final class Shelf: ManagedObject {
    @Relationship(inverse: \Volume.shelf, key: "volume_set") var volumes: Set<Volume>
    @Relationship(inverse: \Volume.former) var leftVolumes: [Volume]
}

@Model final class Volume: ManagedObject {
    @Relationship(key: "shelf_code") var shelf: Shelf?
    @Relationship(key: "former_code") var former: Shelf?
}

/// Relationships whose stored names differ from those in Swift.
@Suite struct InverseKeyTests {
    @Test func anInverseIsFoundByItsStoredName() throws {
        let stack = try DataStack(Shelf.self, Volume.self)
        let names = stack.schema.entities.flatMap { entity in entity.relationships.map { "\(entity.name).\($0.name)-\($0.inverse ?? "")" } }
        #expect(
            names == [
                "Shelf.volume_set-shelf_code", "Shelf.leftVolumes-former_code", "Volume.shelf_code-volume_set",
                "Volume.former_code-leftVolumes",
            ])
        try stack.addStorageAndWait(InMemoryStore())
        let counts = try stack.perform(synchronous: { transaction in
            let shelf = try transaction.create(Shelf.self), volume = try transaction.create(Volume.self)
            volume.shelf = shelf
            shelf.leftVolumes = [volume]
            return [shelf.volumes.count, volume.former == shelf ? 1 : 0]
        })
        #expect(counts == [1, 1])
    }
}
#endif

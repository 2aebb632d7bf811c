#if Macros
import Foundation
import Polystore
import PolystoreInMemory
import PolystoreMacros
import Testing

/// The samples of "Models".
@Suite(.scratch) struct ModelsSamples {
    enum Size: String, AttributeValue, CaseIterable, Codable { case small, large }
    struct Address: CodedAttributeValue {
        var street = "", city = ""
        static var placeholder: Address { Address() }
    }

    @Model final class Parcel: ManagedObject {
        var id: UUID = UUID()  // made for each object
        var sent: Date = .now
        var size: Size = .small
        var title: String  // must be assigned before the commit
        var note: String?
        var address: Address = Address()
        var tags: [String] = []
        @Relationship(inverse: \Sender.parcels) var sender: Sender?
        @Transient var isSelected: Bool = false
    }

    @Model final class Sender: ManagedObject {
        var name: String = ""
        @Relationship var parcels: Set<Parcel>
    }

    @Test func attributesHaveTheirTypes() async throws {
        let stack = try DataStack(Parcel.self, Sender.self)
        try stack.addStorageAndWait(InMemoryStore())
        let error = await #expect(throws: StorageError.self) { try await stack.perform { _ = try $0.create(Parcel.self) } }
        #expect(error?.code == .validationFailed && error?.details.failures.map(\.property) == ["title"])
        try await stack.perform { transaction in
            let sender = try transaction.create(Sender.self)
            for title in ["Tea", "Ink"] {
                let parcel = try transaction.create(Parcel.self)
                parcel.title = title
                parcel.address.city = "Riga"
                parcel.tags = ["fragile"]
                parcel.sender = sender
            }
        }
        let parcels = try stack.fetchAll(From<Parcel>().where(\.size == .small).orderBy(.ascending(\.title)))
        #expect(parcels.map(\.title) == ["Ink", "Tea"] && parcels.allSatisfy { $0.address.city == "Riga" && $0.tags == ["fragile"] })
        #expect(parcels[0].id != parcels[1].id && parcels[0].sender?.parcels.count == 2)
    }

    @Test func aModelOfXcodeIsRead() throws {
        let url = URL(fileURLWithPath: scratch("Shop.xcdatamodeld"))
        for name in ["Shop", "Shop 2", "Shop 10"] {
            let folder = url.appendingPathComponent("\(name).xcdatamodel")
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            let xml = """
                <?xml version="1.0" encoding="UTF-8" standalone="yes"?>
                <model type="com.apple.IDECoreDataModeler.DataModel" documentVersion="1.0">
                <entity name="Product"><attribute name="name" optional="YES" attributeType="String"/></entity>
                </model>
                """
            try xml.write(to: folder.appendingPathComponent("contents"), atomically: true, encoding: .utf8)
        }
        try #"<plist version="1.0"><dict><key>_XCCurrentVersionName</key><string>Shop 10.xcdatamodel</string></dict></plist>"#
            .write(to: url.appendingPathComponent(".xccurrentversion"), atomically: true, encoding: .utf8)

        let model = try XcodeDataModel(contentsOf: url)  // X.xcdatamodeld, or a single X.xcdatamodel
        let versions = model.versions  // ["Shop", "Shop 2", "Shop 10"]
        let version = try model.version("Shop 2")  // without a name the current one, or the only one
        let schema = try Schema(xcodeModel: url)  // model.version().schema

        #expect(versions == ["Shop", "Shop 2", "Shop 10"] && version.schema.version == "Shop 2" && schema.version == "Shop 10")
    }
}
#endif

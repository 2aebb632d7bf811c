import Foundation
import PolystoreSchema
import Testing

/// Shapes that models of whole programs have.
@Suite struct XcodeShapeTests {
    private let models: XcodeModels

    init() throws { models = try XcodeModels() }

    @Test func wholeNumbersAndFloatsHaveDefaultsToo() throws {
        let schema = try Schema(
            xcodeModel: models.model(
                """
                <entity name="Thing">
                    <attribute name="small" attributeType="Integer 16" defaultValueString="-32768"/>
                    <attribute name="large" attributeType="Integer 64" defaultValueString="9007199254740993"/>
                    <attribute name="factor" attributeType="Float" defaultValueString="0.5"/>
                    <attribute name="closed" attributeType="Boolean" defaultValueString="YES"/>
                    <attribute name="tags" optional="YES" attributeType="Transformable"/>
                </entity>
                """))
        #expect(
            schema.entities[0].attributes.map(\.defaultValue) == [
                .int(-32_768), .int(9_007_199_254_740_993), .double(0.5), .bool(true), nil,
            ])
    }

    /// Four generations: each has the properties of those above it, and relationships lead to any of them.
    private static let family = """
        <entity name="Being" isAbstract="YES">
            <attribute name="name" attributeType="String"/>
            <relationship name="home" optional="YES" maxCount="1" deletionRule="Nullify" destinationEntity="Home" inverseName="beings" inverseEntity="Home"/>
        </entity>
        <entity name="Animal" parentEntity="Being" isAbstract="YES"><attribute name="legs" attributeType="Integer 16"/></entity>
        <entity name="Dog" parentEntity="Animal">
            <relationship name="puppies" optional="YES" toMany="YES" ordered="YES" destinationEntity="Puppy" inverseName="mother" inverseEntity="Puppy"/>
        </entity>
        <entity name="Puppy" parentEntity="Dog">
            <relationship name="mother" optional="YES" maxCount="1" destinationEntity="Dog" inverseName="puppies" inverseEntity="Dog"/>
        </entity>
        <entity name="Home">
            <relationship name="beings" optional="YES" toMany="YES" deletionRule="Deny" destinationEntity="Being" inverseName="home" inverseEntity="Being"/>
        </entity>
        <entity name="Log"><attribute name="text" attributeType="String"/></entity>
        """

    @Test func aDeepHierarchyHasThePropertiesOfItsParents() throws {
        let schema = try Schema(xcodeModel: models.model(Self.family))
        let puppy = try #require(schema.index(of: "Puppy")), being = try #require(schema.index(of: "Being"))
        #expect(schema[puppy].root == being && schema[puppy].slots.map(\.name) == ["name", "home", "legs", "mother"])
        #expect(schema[being].family.map { schema.entities[$0].name } == ["Being", "Animal", "Dog", "Puppy"])
        #expect(schema.entities.first { $0.name == "Home" }?.relationships.map(\.deleteRule) == [.deny])
        #expect(schema.entities.first { $0.name == "Dog" }?.relationships.map(\.cardinality) == [.toManyOrdered])
    }

    @Test func aHierarchyStaysTogetherInItsConfigurations() throws {
        func configuration(_ name: String, _ members: [String]) -> String {
            let list = members.map { "<memberEntity name=\"\($0)\"/>" }.joined()
            return "<configuration name=\"\(name)\">\(list)</configuration>"
        }
        let all = ["Being", "Animal", "Dog", "Puppy", "Home"]
        let schema = try Schema(
            xcodeModel: models.model(Self.family + configuration("Zoo", all) + configuration("Logs", ["Log"])))
        #expect(schema.configurations == ["Zoo": all, "Logs": ["Log"]])
        let split = try #require(models.error(try models.model(Self.family + configuration("Zoo", all.filter { $0 != "Puppy" }))))
        #expect(
            split.path == "configuration Zoo"
                && split.message.hasSuffix("but not Puppy: a configuration must contain all entities of a hierarchy"))
        let orphan = try #require(models.error(try models.model(Self.family + configuration("Zoo", all.filter { $0 != "Being" }))))
        #expect(orphan.message.hasSuffix("but not Being: a configuration must contain all entities of a hierarchy"))
        let outside = try #require(models.error(try models.model(Self.family + configuration("Zoo", all.filter { $0 != "Home" }))))
        #expect(outside.message == "the destination of Being.home, Home, is not in the configuration")
    }

    @Test func elementsThatDoNotAffectStorageAreIgnored() throws {
        let plain = try Schema(
            xcodeModel: models.model(
                """
                <entity name="Note"><attribute name="text" attributeType="String"/>
                <relationship name="next" optional="YES" maxCount="1" destinationEntity="Note"/></entity>
                """))
        let full = try Schema(
            xcodeModel: models.model(
                """
                <entity name="Note" representedClassName=".Note" versionHashModifier="2" coreSpotlightDisplayNameExpression="text" syncable="YES" codeGenerationType="category">
                    <attribute name="text" attributeType="String" versionHashModifier="x" spotlightIndexingEnabled="YES" allowsCloudEncryption="YES" customClassName="NSString" syncable="YES">
                        <userInfo><entry key="label" value="Text"/><entry key="" value=""/></userInfo>
                    </attribute>
                    <relationship name="next" optional="YES" maxCount="1" deletionRule="Nullify" destinationEntity="Note" spotlightIndexingEnabled="YES" syncable="YES">
                        <userInfo/>
                    </relationship>
                    <userInfo><entry key="com.example.order" value="1"/></userInfo>
                </entity>
                <elements><element name="Note" positionX="-63" positionY="-18" width="128" height="59"/></elements>
                """))
        #expect(full.entities == plain.entities && full.hash == plain.hash)
    }

    @Test func preservedAttributesOfTheHistoryAreRead() throws {
        let schema = try Schema(
            xcodeModel: models.model(
                """
                <entity name="Note"><attribute name="text" attributeType="String" preservesValueInHistoryOnDeletion="YES"/>
                <attribute name="other" attributeType="String" preservesValueInHistoryOnDeletion="NO"/></entity>
                """))
        #expect(schema.entities[0].attributes.map(\.history) == [.preserved, .recorded])
    }

    @Test func anEntityCanReferToItselfAndOneSideCanBeOrdered() throws {
        let xml = { (isOrdered: String) in
            """
            <entity name="Song">
                <relationship name="lists" optional="YES" toMany="YES" ordered="\(isOrdered)" destinationEntity="Playlist" inverseName="songs" inverseEntity="Playlist"/>
                <relationship name="like" optional="YES" toMany="YES" destinationEntity="Song" inverseName="like" inverseEntity="Song"/>
            </entity>
            <entity name="Playlist">
                <relationship name="songs" optional="YES" toMany="YES" ordered="YES" destinationEntity="Song" inverseName="lists" inverseEntity="Song"/>
            </entity>
            """
        }
        let schema = try Schema(xcodeModel: models.model(xml("NO")))
        #expect(
            schema.entities.flatMap(\.relationships) == [
                Relationship("songs", to: "Song", .toManyOrdered, inverse: "lists"),
                Relationship("lists", to: "Playlist", .toMany, inverse: "songs"),
                Relationship("like", to: "Song", .toMany, inverse: "like"),
            ])
        let both = try #require(models.error(try models.model(xml("YES"))))
        #expect(both.path == "Playlist.songs" && both.line == 8)
        #expect(
            both.message
                == "the relationship and its inverse Song.lists cannot both be ordered; make one of them unordered, a Set in a model class")
    }
}

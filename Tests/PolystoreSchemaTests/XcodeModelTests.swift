import Foundation
import PolystoreSchema
import Testing

@Suite struct XcodeModelTests {
    private let models: XcodeModels

    init() throws { models = try XcodeModels() }

    @Test func everyTypeOfAttributeIsRead() throws {
        let schema = try Schema(
            xcodeModel: models.model(
                """
                <entity name="Thing" representedClassName="Thing" syncable="YES" codeGenerationType="class">
                    <attribute name="small" attributeType="Integer 16" defaultValueString="0" usesScalarValueType="YES"/>
                    <attribute name="middle" attributeType="Integer 32" usesScalarValueType="YES"/>
                    <attribute name="large" optional="YES" attributeType="Integer 64" usesScalarValueType="YES"/>
                    <attribute name="price" optional="YES" attributeType="Decimal" defaultValueString="0.0"/>
                    <attribute name="ratio" optional="YES" attributeType="Double"/>
                    <attribute name="factor" optional="YES" attributeType="Float"/>
                    <attribute name="title" optional="YES" attributeType="String"/>
                    <attribute name="isOpen" optional="NO" attributeType="Boolean" defaultValueString="YES" usesScalarValueType="YES"/>
                    <attribute name="at" optional="YES" attributeType="Date" usesScalarValueType="NO"/>
                    <attribute name="id" optional="YES" attributeType="UUID" usesScalarValueType="NO"/>
                    <attribute name="page" optional="YES" attributeType="URI"/>
                    <attribute name="photo" optional="YES" attributeType="Binary" allowsExternalBinaryDataStorage="YES"/>
                    <attribute name="tags" optional="YES" attributeType="Transformable" valueTransformerName="NSSecureUnarchiveFromData"/>
                    <attribute name="old" optional="YES" attributeType="Transformable" customClassName="NSDictionary"/>
                </entity>
                """))
        #expect(
            schema.entities == [
                Entity(
                    "Thing",
                    attributes: [
                        Attribute("small", .int16, defaultValue: .int(0)), Attribute("middle", .int32),
                        Attribute("large", .int64, isOptional: true),
                        Attribute("price", .decimal, isOptional: true, defaultValue: .decimal(0)),
                        Attribute("ratio", .double, isOptional: true), Attribute("factor", .float, isOptional: true),
                        Attribute("title", .string, isOptional: true), Attribute("isOpen", .bool, defaultValue: .bool(true)),
                        Attribute("at", .date, isOptional: true), Attribute("id", .uuid, isOptional: true),
                        Attribute("page", .url, isOptional: true), Attribute("photo", .data, isOptional: true),
                        Attribute("tags", .data, isOptional: true, coder: "NSSecureUnarchiveFromData"),
                        Attribute("old", .data, isOptional: true, coder: "NSKeyedUnarchiveFromData"),
                    ])
            ])
        #expect(schema.version == "Model")
        #expect(try Schema(json: schema.prettyJSON) == schema)
    }

    /// 2001-01-01 is 978,307,200 seconds after 1970.
    @Test func defaultsAndLimitsAreValuesOfTheirTypes() throws {
        let id = "8D7B4A0E-0A63-4A3F-9C9E-1F0F4B8C2D11"
        let schema = try Schema(
            xcodeModel: models.model(
                """
                <entity name="Thing">
                    <attribute name="count" attributeType="Integer 32" minValueString="-5" maxValueString="10.0" defaultValueString="3.0"/>
                    <attribute name="price" attributeType="Decimal" minValueString="0.01" maxValueString="99999.99" defaultValueString="12.50"/>
                    <attribute name="ratio" attributeType="Double" defaultValueString="0.1"/>
                    <attribute name="hired" attributeType="Date" minDateTimeInterval="-725882400" maxDateTimeInterval="1" defaultDateTimeInterval="0.5"/>
                    <attribute name="isOpen" attributeType="Boolean" defaultValueString="NO"/>
                    <attribute name="id" attributeType="UUID" defaultValueString="\(id)"/>
                    <attribute name="page" attributeType="URI" defaultValueString="https://example.org/?a=1&amp;b=2"/>
                    <attribute name="topic" attributeType="String" minValueString="1" maxValueString="64" regularExpressionString="[-_A-Za-z0-9]+"/>
                    <attribute name="text" attributeType="String" defaultValueString="&lt;a&#10;&quot;&#x1F600;'&gt;"/>
                    <attribute name="blank" attributeType="String" defaultValueString=""/>
                </entity>
                """))
        let attributes = schema.entities[0].attributes
        #expect(
            attributes.map(\.defaultValue) == [
                .int(3), .decimal(try #require(Decimal(string: "12.5"))), .double(0.1), .date(978_307_200_500_000), .bool(false),
                .uuid(try #require(UUID(uuidString: id))), .string("https://example.org/?a=1&b=2"), nil,
                .string("<a\n\"\u{1F600}'>"), .string(""),
            ])
        #expect(attributes[0].rules == AttributeRules(minimum: .int(-5), maximum: .int(10)))
        #expect(attributes[1].rules.minimum == .decimal(try #require(Decimal(string: "0.01"))))
        #expect(attributes[1].rules.maximum == .decimal(try #require(Decimal(string: "99999.99"))))
        #expect(attributes[3].rules == AttributeRules(minimum: .date(252_424_800_000_000), maximum: .date(978_307_201_000_000)))
        #expect(attributes[7].rules == AttributeRules(minLength: 1, maxLength: 64, pattern: "[-_A-Za-z0-9]+"))
    }

    @Test func entitiesInherit() throws {
        let schema = try Schema(
            xcodeModel: models.model(
                """
                <entity name="Dog" representedClassName="Dog" parentEntity="Animal">
                    <attribute name="breed" optional="YES" attributeType="String"/>
                </entity>
                <entity name="Animal" representedClassName="Animal" isAbstract="YES" syncable="YES">
                    <attribute name="name" attributeType="String"/>
                    <userInfo><entry key="team" value="zoo"/></userInfo>
                </entity>
                """))
        #expect(schema.entities.map(\.name) == ["Animal", "Dog"])
        #expect(schema.entities.map(\.isAbstract) == [true, false])
        #expect(schema.entities.map(\.parent) == [nil, "Animal"])
        #expect(schema.descriptions[1].slots.map(\.name) == ["name", "breed"])
    }

    @Test func relationshipsKeepOrderCountsAndInverses() throws {
        let schema = try Schema(
            xcodeModel: models.model(
                """
                <entity name="Author">
                    <relationship name="articles" optional="YES" toMany="YES" ordered="YES" minCount="1" maxCount="12" deletionRule="Cascade" destinationEntity="Article" inverseName="author" inverseEntity="Article">
                        <userInfo><entry key="hint" value="shelf"/></userInfo>
                    </relationship>
                </entity>
                <entity name="Article">
                    <relationship name="author" maxCount="1" deletionRule="Nullify" destinationEntity="Author" inverseName="articles" inverseEntity="Author"/>
                    <relationship name="tags" optional="YES" toMany="YES" deletionRule="Nullify" destinationEntity="Tag" inverseName="articles" inverseEntity="Tag"/>
                </entity>
                <entity name="Tag">
                    <relationship name="articles" optional="YES" toMany="YES" maxCount="0" destinationEntity="Article" inverseName="tags" inverseEntity="Article"/>
                </entity>
                """))
        #expect(
            schema.entities.flatMap(\.relationships) == [
                Relationship("author", to: "Author", isOptional: false, inverse: "articles"),
                Relationship("tags", to: "Tag", .toMany, inverse: "articles"),
                Relationship(
                    "articles", to: "Article", .toManyOrdered, inverse: "author", deleteRule: .cascade, minCount: 1, maxCount: 12),
                Relationship("articles", to: "Article", .toMany, inverse: "tags"),
            ])
    }

    @Test func deleteRulesAreThoseOfTheModel() throws {
        let xml = { (rule: String, inverse: String) in
            """
            <entity name="A">
                <relationship name="b" optional="YES" maxCount="1" deletionRule="\(rule)" destinationEntity="A"\(inverse)/>
                <relationship name="c" optional="YES" maxCount="1" deletionRule="Nullify" destinationEntity="A" inverseName="b" inverseEntity="A"/>
            </entity>
            """
        }
        let inverse = " inverseName=\"c\" inverseEntity=\"A\""
        for (name, rule) in [("Nullify", DeleteRule.nullify), ("Cascade", .cascade), ("Deny", .deny)] {
            let schema = try Schema(xcodeModel: models.model(xml(name, inverse)))
            #expect(schema.entities[0].relationships[0].deleteRule == rule)
        }
        let refused = try #require(models.error(try models.model(xml("No Action", inverse))))
        #expect(refused.path == "A.b" && refused.line == 4 && refused.message.contains("No Action"))
        let alone = try models.model(
            "<entity name=\"A\"><relationship name=\"b\" maxCount=\"1\" deletionRule=\"No Action\" destinationEntity=\"A\"/></entity>")
        #expect(try Schema(xcodeModel: alone).entities[0].relationships[0].deleteRule == .nullify)
        #expect(models.error(try models.model(xml("Cascada", inverse)))?.message.contains("did you mean \"Cascade\"?") == true)
    }

    @Test func indexesAndConstraintsOfAllTimesAreRead() throws {
        let schema = try Schema(
            xcodeModel: models.model(
                """
                <entity name="Note">
                    <attribute name="title" attributeType="String" indexed="YES"/>
                    <attribute name="stars" attributeType="Integer 16"/>
                    <attribute name="isOpen" attributeType="Boolean"/>
                    <relationship name="parent" optional="YES" maxCount="1" deletionRule="Nullify" destinationEntity="Note"/>
                    <compoundIndexes>
                        <compoundIndex><index value="stars"/><index value="title"/></compoundIndex>
                    </compoundIndexes>
                    <fetchIndex name="byStars">
                        <fetchIndexElement property="stars" type="Binary" order="descending"/>
                        <fetchIndexElement property="parent" type="Binary" order="ascending"/>
                    </fetchIndex>
                    <fetchIndex name="byTitle"><fetchIndexElement property="title" type="Binary" order="ascending"/></fetchIndex>
                    <fetchIndex name="open" partialIndexPredicate="isOpen == YES AND stars &gt;= 3">
                        <fetchIndexElement property="stars" type="Binary" order="ascending"/>
                    </fetchIndex>
                    <uniquenessConstraints>
                        <uniquenessConstraint><constraint value="title"/></uniquenessConstraint>
                        <uniquenessConstraint><constraint value="parent"/><constraint value="stars"/></uniquenessConstraint>
                    </uniquenessConstraints>
                </entity>
                """))
        #expect(
            schema.entities[0].indexes == [
                Index(["title"]), Index(["stars", "title"]), Index(["stars", "parent"]),
                Index(["stars"], where: "isOpen == YES AND stars >= 3"),
            ])
        #expect(schema.entities[0].uniqueConstraints == [UniqueConstraint(["title"]), UniqueConstraint(["parent", "stars"])])
    }

    @Test func configurationsNameTheirEntities() throws {
        let schema = try Schema(
            xcodeModel: models.model(
                """
                <entity name="A"/>
                <entity name="B"></entity>
                <configuration name="Local"><memberEntity name="A"/></configuration>
                <configuration name="Cloud" usedWithCloudKit="YES">
                    <memberEntity name="B"/>
                    <memberEntity name="A"/>
                </configuration>
                <elements><element name="A" positionX="0" positionY="0" width="128" height="44"/></elements>
                """))
        #expect(schema.configurations == ["Local": ["A"], "Cloud": ["B", "A"]])
        let twice = "<configuration name=\"X\"/>\n<configuration name=\"X\"/>"
        #expect(models.error(try models.model(twice))?.line == 4)
        let missing = "<entity name=\"Account\"/>\n<configuration name=\"X\"><memberEntity name=\"Acount\"/></configuration>"
        let error = try #require(models.error(try models.model(missing)))
        #expect(error.line == 4 && error.message.contains("did you mean \"Account\"?"))
    }

    @Test func versionsAreDistinguishedAndRenamesKept() throws {
        let old = "<entity name=\"Person\"><attribute name=\"name\" attributeType=\"String\"/></entity>"
        let new = """
            <entity name="Contact" elementID="Person">
                <attribute name="fullName" attributeType="String" elementID="name"/>
                <relationship name="boss" optional="YES" maxCount="1" destinationEntity="Contact" elementID="chief"/>
                <relationship name="same" optional="YES" maxCount="1" destinationEntity="Contact" elementID="same"/>
            </entity>
            """
        let model = try XcodeDataModel(
            contentsOf: models.versions(["Shop": old, "Shop 10": new, "Shop 2": "<entity"], current: "Shop 10"))
        #expect(model.versions == ["Shop", "Shop 2", "Shop 10"])
        #expect(model.current == "Shop 10")
        #expect(try model.version("Shop").schema.entities.map(\.name) == ["Person"])
        let current = try model.version()
        let entity = current.schema.entities[0]
        #expect(current.name == "Shop 10" && current.schema.version == "Shop 10")
        #expect(entity.originalName == "Person" && entity.attributes[0].originalName == "name")
        #expect(entity.relationships.map(\.originalName) == ["chief", nil])
        do throws(SchemaError) {
            _ = try model.version("Shop 3")
            Issue.record("there is no such version")
        } catch {
            #expect(error.message.contains("did you mean \"Shop 2\"?") || error.message.contains("did you mean \"Shop 10\"?"))
        }
    }

    @Test func aFolderNamesItsCurrentVersion() throws {
        let body = ["Shop": "<entity name=\"A\"/>", "Shop 2": "<entity name=\"B\"/>"]
        let unsaid = try XcodeDataModel(contentsOf: models.versions(body, current: nil))
        #expect(unsaid.current == nil)
        #expect(throws: SchemaError("", "the model has no current version; choose one of \"Shop\", \"Shop 2\"")) { try unsaid.version() }
        let wrong = try #require(models.error(try models.versions(body, current: "Shop 3")))
        #expect(wrong.file?.hasSuffix(".xccurrentversion") == true && wrong.line == 6)
        #expect(wrong.message.contains("Shop 3"))
    }

    @Test func theOnlyVersionIsTheCurrentOne() throws {
        let url = try models.versions(["Shop": "<entity name=\"A\"/>"], current: nil)
        #expect(try Schema(xcodeModel: url).entities.map(\.name) == ["A"])
    }

    @Test func propertiesThatAreNotStoredAreOmittedAndListed() throws {
        let version = try XcodeDataModel(
            contentsOf: models.model(
                """
                <entity name="Person">
                    <attribute name="age" optional="YES" transient="YES" attributeType="Undefined" indexed="YES"/>
                    <attribute name="born" optional="YES" attributeType="Date"/>
                    <relationship name="muse" optional="YES" transient="YES" maxCount="1" deletionRule="No Action" destinationEntity="Person"/>
                    <fetchedProperty name="elders" optional="YES">
                        <fetchRequest name="fetchedPropertyFetchRequest" entity="Person" predicateString="age &gt; 50"/>
                    </fetchedProperty>
                </entity>
                <fetchRequest name="All" entity="Person" predicateString="TRUEPREDICATE"/>
                """)
        ).version()
        #expect(version.schema.entities == [Entity("Person", attributes: [Attribute("born", .date, isOptional: true)])])
        #expect(
            version.leftOut == [
                "transient attribute Person.age", "transient relationship Person.muse", "fetched property Person.elders",
                "fetch request All",
            ])
    }

    @Test func userInfoIsListed() throws {
        let version = try XcodeDataModel(
            contentsOf: models.model(
                """
                <entity name="Person">
                    <attribute name="age" optional="YES" attributeType="Integer 16"><userInfo><entry key="unit" value="years"/></userInfo></attribute>
                    <attribute name="name" optional="YES" attributeType="String"><userInfo/></attribute>
                    <relationship name="muse" optional="YES" maxCount="1" deletionRule="Nullify" destinationEntity="Person">
                        <userInfo><entry key="hint" value="one"/></userInfo>
                    </relationship>
                    <userInfo><entry key="team" value="zoo"/></userInfo>
                </entity>
                <userInfo><entry key="owner" value="zoo"/></userInfo>
                """)
        ).version()
        #expect(version.leftOut == ["user info Person", "user info Person.age", "user info Person.muse", "user info"])
    }
}

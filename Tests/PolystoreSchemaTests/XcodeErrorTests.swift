import Foundation
import PolystoreSchema
import Testing

@Suite struct XcodeErrorTests {
    private let models: XcodeModels

    init() throws { models = try XcodeModels() }

    /// The body begins on line 3 of its file.
    private static let wrong: [(body: String, path: String, line: Int, message: String)] = [
        ("<entity name=\"A\">\n<attribute name=\"x\" attributeType=\"Integer 166\"/>\n</entity>", "A.x", 4, "did you mean \"Integer 16\"?"),
        ("<entity name=\"A\">\n<attribute name=\"x\" attributeType=\"Composite\"/>\n</entity>", "A.x", 4, "composite"),
        ("<entity name=\"A\">\n<attribute name=\"x\"/>\n</entity>", "A.x", 4, "\"attributeType\" is missing"),
        ("<entity name=\"A\">\n<attribute attributeType=\"Date\"/>\n</entity>", "A", 4, "\"name\" is missing"),
        (
            "<entity name=\"A\">\n\n<attribute name=\"x\" attributeType=\"String\" derived=\"YES\" derivationExpression=\"now()\"/>\n</entity>",
            "A.x", 5, "derived"
        ),
        (
            "<entity name=\"A\">\n<attribute name=\"x\" attributeType=\"Integer 16\" defaultValueString=\"many\"/>\n</entity>", "A.x", 4,
            "must be a value of type int16"
        ),
        (
            "<entity name=\"A\">\n<attribute name=\"x\" attributeType=\"Integer 16\" defaultValueString=\"40000\"/>\n</entity>", "A.x", 4,
            "its default value is invalid"
        ),
        (
            "<entity name=\"A\">\n<attribute name=\"x\" attributeType=\"Date\" defaultDateTimeInterval=\"1e300\"/>\n</entity>", "A.x", 4,
            "seconds since 2001"
        ),
        (
            "<entity name=\"A\">\n<attribute name=\"x\" attributeType=\"Binary\" defaultValueString=\"a\"/>\n</entity>", "A.x", 4,
            "binary data"
        ),
        ("<entity name=\"A\">\n<attribute name=\"x\" attributeType=\"URI\" minValueString=\"1\"/>\n</entity>", "A.x", 4, "does not apply"),
        ("<entity name=\"A\">\n<attribute name=\"x\" optional=\"maybe\" attributeType=\"Date\"/>\n</entity>", "A.x", 4, "YES or NO"),
        (
            "<entity name=\"A\">\n<attribute name=\"x\" attributeType=\"String\" maxValueString=\"-1\"/>\n</entity>", "A.x", 4,
            "an integer of at least 0"
        ),
        ("<entity name=\"A\"/>\n<entity name=\"A\"/>", "A", 4, "two entities"),
        ("<entity name=\"A\"/>\n<entity name=\"B\" parentEntity=\"AA\"/>", "B", 4, "did you mean \"A\"?"),
        ("<entity name=\"A\" parentEntity=\"B\"/>\n<entity name=\"B\" parentEntity=\"A\"/>", "A", 3, "form a cycle"),
        ("<entity name=\"A\">\n<property name=\"x\"/>\n</entity>", "A", 4, "<entity> has no element <property>"),
        ("<entity name=\"A\"/>\n<compositeAttribute name=\"Address\"/>", "Address", 4, "composite"),
        ("<entities/>", "", 3, "<model> has no element <entities>"),
        ("<entity name=\"A\">\n<relationship name=\"b\" maxCount=\"1\"/>\n</entity>", "A.b", 4, "\"destinationEntity\" is missing"),
        (
            "<entity name=\"A\">\n<relationship name=\"b\" maxCount=\"1\" destinationEntity=\"AB\" inverseName=\"b\" inverseEntity=\"AB\"/>\n</entity>",
            "A.b", 4, "did you mean \"A\"?"
        ),
        ("<entity name=\"A\">\n<relationship name=\"b\" maxCount=\"5\" destinationEntity=\"A\"/>\n</entity>", "A.b", 4, "toMany"),
        (
            "<entity name=\"A\">\n<relationship name=\"b\" maxCount=\"1\" destinationEntity=\"A\" inverseName=\"b\" inverseEntity=\"C\"/>\n</entity><entity name=\"C\"/>",
            "A.b", 4, "its inverse belongs to C"
        ),
        (
            "<entity name=\"A\">\n<fetchIndex name=\"i\">\n<fetchIndexElement property=\"x\" type=\"RTree\"/>\n</fetchIndex>\n</entity>",
            "A.i", 5, "RTree"
        ),
        (
            "<entity name=\"A\">\n<fetchIndex name=\"i\">\n<fetchIndexElement expression=\"length(x)\" type=\"Binary\"/>\n</fetchIndex>\n</entity>",
            "A.i", 5, "expressions"
        ),
        ("<entity name=\"A\">\n<fetchIndex name=\"i\" where=\"x\"/>\n</entity>", "A.i", 4, "<fetchIndex> has no attribute \"where\""),
        (
            "<entity name=\"A\">\n<attribute name=\"size\" attributeType=\"Date\"/>\n<fetchIndex name=\"i\"><fetchIndexElement property=\"sizes\"/></fetchIndex>\n</entity>",
            "A.index(sizes)", 5, "did you mean \"size\"?"
        ),
    ]

    @Test(arguments: wrong.indices) func anErrorNamesFileLineAndPlace(_ index: Int) throws {
        let (body, path, line, message) = Self.wrong[index]
        let error = try #require(models.error(try models.model(body)))
        #expect(error.path == path)
        #expect(error.line == line)
        #expect(error.message.contains(message), "\(error)")
        #expect(error.file?.hasSuffix("Model.xcdatamodel/contents") == true)
        #expect(error.description.contains("contents, line \(line): "))
    }

    private static let malformed: [(text: String, line: Int?, message: String)] = [
        ("", 1, "a root element is expected"),
        ("<plist/>", 1, "<model> is expected"),
        ("<model>\n<entity name=\"A\">\n</model>", 3, "</model> does not match an open element"),
        ("<model>\n<entity name=\"A\">\n", 3, "<entity> of line 2 is not closed"),
        ("<model>\n<entity name=\"A\" name=\"B\"/></model>", 2, "appears twice"),
        ("<model>\n<entity name=A/></model>", 2, "a value in quotes"),
        ("<model>\n<entity name=\"A/></model>", 2, "is not closed"),
        ("<model>\n<entity name=\"<\"/></model>", 2, "&lt;"),
        ("<model>\n<entity name=\"a & b\"/></model>", 2, "&amp;"),
        ("<model>\n<entity name=\"&copy;\"/></model>", 2, "&copy;"),
        ("<model>\n<entity name=\"&#0;\"/></model>", 2, "&#0;"),
        ("<model>\n<entity name=\"&#xD800;\"/></model>", 2, "&#xD800;"),
        ("<model>\n<!-- a\n", 2, "is not closed"),
        ("<model/>\n<model/>", 2, "second root element"),
        ("<model/>\ntext", 2, "outside of the root element"),
        ("<model>\n<1/></model>", 2, "a name is expected"),
        ("<model a=\"1\"b=\"2\"/>", 1, "a space"),
    ]

    @Test(arguments: malformed.indices) func malformedXMLIsAnErrorWithItsLine(_ index: Int) throws {
        let (text, line, message) = Self.malformed[index]
        let error = try #require(models.error(try models.file(text)))
        #expect(error.line == line, "\(error)")
        #expect(error.message.contains(message), "\(error)")
    }

    @Test func unusualButValidXMLIsRead() throws {
        let url = try models.file(
            "\u{feff}<?xml version='1.0'?>\r\n<!-- <entity -->\r\n<!DOCTYPE model SYSTEM \"file:///etc/pass>wd\">\r\n<model\r\n>"
                + "<entity name = 'A' ><userInfo><![CDATA[<b>]]></userInfo></entity ><!-- end --></model>\r\n<?end?>\r\n")
        #expect(try Schema(xcodeModel: url).entities == [Entity("A")])
    }

    // MARK: Files that are made to harm

    @Test func nothingIsExpandedAndNoOtherFileIsRead() throws {
        let laughs = (1...9).map { "<!ENTITY l\($0) \"" + String(repeating: "&l\($0 - 1);", count: 10) + "\">" }.joined()
        let bomb = "<!DOCTYPE model [<!ENTITY l0 \"ha\">\(laughs)]>\n<model><entity name=\"&l9;\"/></model>"
        let outside = "<!DOCTYPE model [<!ENTITY x SYSTEM \"file:///etc/passwd\">]><model><entity name=\"&x;\"/></model>"
        let parameter = "<!DOCTYPE model SYSTEM \"file:///dev/zero\" [%x;]><model/>"
        for text in [bomb, outside, parameter] {
            #expect(models.error(try models.file(text))?.message == "a document type with declarations is not supported")
        }
    }

    @Test func depthSizeAndNumbersAreLimited() throws {
        let deep = String(repeating: "<a>", count: 200_000)
        #expect(models.error(try models.file(deep))?.message == "at most 50 levels of elements are allowed")
        let wide = "<model>" + String(repeating: "<a/>", count: 100_001) + "</model>"
        #expect(models.error(try models.file(wide))?.message == "at most 100000 elements are allowed")
        let long = "<model>" + String(repeating: " ", count: 4 << 20) + "</model>"
        #expect(models.error(try models.file(long))?.message == "a model file can have at most 4 MiB")
        let name = "<entity name=\"\(String(repeating: "a", count: 251))\"/>"
        #expect(models.error(try models.model(name))?.message == "\"name\" has more than 250 bytes")
        let many = (0...32_767).map { "<entity name=\"E\($0)\"/>" }.joined()
        #expect(models.error(try models.model(many))?.message == "a schema can have at most 32767 entities")
        let attributes = (0...4096).map { "<attribute name=\"a\($0)\" attributeType=\"Integer 64\"/>" }.joined()
        #expect(
            models.error(try models.model("<entity name=\"E\">\(attributes)</entity>"))?.message
                == "an entity can have at most 4096 properties, including inherited ones")
        let chain = (0...101).map { "<entity name=\"E\($0)\" parentEntity=\"E\($0 + 1)\"/>" }.joined(separator: "\n")
        let end = "<entity name=\"E102\"/>"
        #expect(models.error(try models.model(chain + end))?.message.contains("more than 100 ancestors") == true)
        let root = (0..<100).map { "<attribute name=\"x\($0)\" attributeType=\"Date\"/>" }.joined()
        let heirs = (0..<2_000).map { "<entity name=\"E\($0)\" parentEntity=\"R\"/>" }.joined()
        let inherited = "<entity name=\"R\">\(root)</entity>\(heirs)"
        #expect(models.error(try models.model(inherited))?.message.contains("200000 properties") == true)
    }

    @Test func invalidModelFilesAreRefused() throws {
        let folder = models.folder
        #expect(models.error(folder.appendingPathComponent("a.json"))?.message.contains("not an Xcode data model") == true)
        #expect(models.error(folder.appendingPathComponent("Missing.xcdatamodeld"))?.message.contains("cannot be read") == true)
        #expect(models.error(folder.appendingPathComponent("Missing.xcdatamodel"))?.message.contains("no such file") == true)
        let empty = folder.appendingPathComponent("Empty.xcdatamodeld")
        try FileManager.default.createDirectory(at: empty, withIntermediateDirectories: true)
        #expect(models.error(empty)?.message.contains("has no version of the model") == true)
        let bytes = try models.file("<model/>")
        try Data([0x3c, 0xff, 0x3e]).write(to: bytes.appendingPathComponent("contents"))
        #expect(models.error(bytes)?.message == "the file is not UTF-8 text")
    }

    @Test func linksToDevicesAreRefused() throws {
        let url = try models.file("<model/>"), contents = url.appendingPathComponent("contents")
        try FileManager.default.removeItem(at: contents)
        try FileManager.default.createSymbolicLink(atPath: contents.path, withDestinationPath: "/dev/zero")
        #expect(models.error(url)?.message.contains("no such file") == true)
    }
}

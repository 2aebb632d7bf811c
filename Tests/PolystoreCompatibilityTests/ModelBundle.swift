import Foundation

/// A bundle in a temporary folder with an Xcode model of several versions.
struct ModelBundle {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("polystore-bundle-\(UUID().uuidString)")
    let bundle: Bundle

    /// Creates the model `NAME.xcdatamodeld`.
    ///
    /// - Parameters:
    ///   - name: The name of the model.
    ///   - versions: The attributes of the entity `Person` by the name of the version.
    ///   - current: The current version.
    init(_ name: String, _ versions: [String: [String]], current: String) throws {
        let model = folder.appendingPathComponent("\(name).xcdatamodeld")
        for (version, attributes) in versions {
            let file = model.appendingPathComponent("\(version).xcdatamodel")
            try FileManager.default.createDirectory(at: file, withIntermediateDirectories: true)
            let lines = attributes.map { "<attribute name=\"\($0)\" optional=\"YES\" attributeType=\"String\"/>" }
            let text = """
                <?xml version="1.0" encoding="UTF-8" standalone="yes"?>
                <model type="com.apple.IDECoreDataModeler.DataModel" documentVersion="1.0" userDefinedModelVersionIdentifier="">
                <entity name="Person" representedClassName="Person" syncable="YES">
                \(lines.joined(separator: "\n"))
                </entity>
                </model>
                """
            try text.write(to: file.appendingPathComponent("contents"), atomically: true, encoding: .utf8)
        }
        let list = """
            <?xml version="1.0" encoding="UTF-8"?>
            <plist version="1.0"><dict><key>_XCCurrentVersionName</key><string>\(current).xcdatamodel</string></dict></plist>
            """
        try list.write(to: model.appendingPathComponent(".xccurrentversion"), atomically: true, encoding: .utf8)
        guard let bundle = Bundle(path: folder.path) else { throw CocoaError(.fileNoSuchFile) }
        self.bundle = bundle
    }

    func remove() { try? FileManager.default.removeItem(at: folder) }
}

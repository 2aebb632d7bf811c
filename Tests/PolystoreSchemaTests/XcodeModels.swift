import Foundation
import PolystoreSchema

/// Writes data models as Xcode lays them out, in a folder of its own.
struct XcodeModels {
    let folder: URL

    init() throws {
        folder = FileManager.default.temporaryDirectory.appendingPathComponent("polystore-xcode-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    /// The XML of a model; the first line of the body is the third of the file.
    static func xml(_ body: String) -> String {
        """
        <?xml version="1.0" encoding="UTF-8" standalone="yes"?>
        <model type="com.apple.IDECoreDataModeler.DataModel" documentVersion="1.0" sourceLanguage="Swift" userDefinedModelVersionIdentifier="">
        \(body)
        </model>
        """
    }

    private static func plist(_ version: String) -> String {
        """
        <?xml version="1.0" encoding="UTF-8"?>
        <!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
        <plist version="1.0">
        <dict>
        \t<key>_XCCurrentVersionName</key>
        \t<string>\(version).xcdatamodel</string>
        </dict>
        </plist>
        """
    }

    /// A single model with the given file.
    @discardableResult func file(_ text: String, _ name: String = "Model.xcdatamodel") throws -> URL {
        let url = folder.appendingPathComponent(name)
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
        try text.write(to: url.appendingPathComponent("contents"), atomically: true, encoding: .utf8)
        return url
    }

    /// A single model with the given elements.
    func model(_ body: String) throws -> URL { try file(Self.xml(body)) }

    /// A model with versions.
    func versions(_ bodies: [String: String], current: String?) throws -> URL {
        for (name, body) in bodies { try file(Self.xml(body), "Shop.xcdatamodeld/\(name).xcdatamodel") }
        let url = folder.appendingPathComponent("Shop.xcdatamodeld")
        if let current {
            try Self.plist(current).write(to: url.appendingPathComponent(".xccurrentversion"), atomically: true, encoding: .utf8)
        }
        return url
    }

    /// The error that reading a model ends with.
    func error(_ url: URL) -> SchemaError? {
        do throws(SchemaError) { _ = try Schema(xcodeModel: url) } catch { return error }
        return nil
    }
}

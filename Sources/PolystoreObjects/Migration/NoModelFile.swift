public import Foundation
internal import PolystoreStorage

/// A model without files, whose schemas are given in Swift.
public enum NoModelFile: ModelFileManager {
    /// The program's own bundle.
    public static var bundle: Bundle { .main }
    /// An empty name.
    public static var modelName: String { "" }
}

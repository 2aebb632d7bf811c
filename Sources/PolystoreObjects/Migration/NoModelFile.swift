public import PolystoreFoundation
internal import PolystoreStorage

/// A model without files, whose schemas are given in Swift.
public enum NoModelFile: ModelFiles {
    /// The folder of the program, or of its resources.
    public static var folder: URL {
        #if canImport(Darwin)
        Bundle.main.resourceURL ?? Bundle.main.bundleURL
        #else
        URL(fileURLWithPath: FileWatch.realPath("/proc/self/exe")).deletingLastPathComponent()
        #endif
    }
    /// An empty name.
    public static var modelName: String { "" }
}

public import CPolystore
internal import PolystoreCatalog
internal import PolystoreStorage
internal import PolystoreTransfer

/// Copies all objects of a store to another one.
@c @implementation
public func polystore_transfer(
    _ source: UnsafePointer<CChar>?, _ target: UnsafePointer<CChar>?, _ options: UnsafePointer<CChar>?, _ progress: polystore_progress?,
    _ context: UnsafeMutableRawPointer?, _ error: UnsafeMutablePointer<OpaquePointer?>?
) -> UnsafeMutablePointer<CChar>? {
    reportingText(error) {
        let catalog = StoreCatalog.standard
        let source = try catalog.url(for: String(argument: source, "the URL of the source"))
        let target = try catalog.url(for: String(argument: target, "the URL of the target"))
        let options = options == nil ? TransferOptions() : try TransferOptions(json: String(argument: options, "the options"))
        let progress = try progress.map { function throws(StorageError) in try CallBack(function, context) }
        return try StoreCopy(options: options, progress: progress).run(from: source, to: target).json
    }
}

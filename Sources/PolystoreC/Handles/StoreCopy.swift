internal import CPolystore
internal import PolystoreCatalog
internal import PolystoreStorage
internal import PolystoreTransfer

/// The copy of a store, in one transaction.
struct StoreCopy {
    let options: TransferOptions
    let progress: CallBack<polystore_progress>?
    private let limit = WorkLimit()

    init(options: TransferOptions, progress: CallBack<polystore_progress>?) {
        self.options = options
        self.progress = progress
    }

    /// Copies the objects. A target that is created for them is removed after a failure.
    func run(from source: StoreURL, to target: StoreURL) throws(StorageError) -> TransferReport {
        let request = OpenRequest(schema: nil, createIfMissing: false, readOnly: true)
        let from = try OpenStore(opening: StoreCatalog.standard.store(forScanning: source), request)
        defer { try? from.close() }
        try refuseLosses(of: from)
        let engine = TransferEngine(limit: limit), work = try engine.begin(from: from, options)
        defer { work.end() }
        let to = try OpenStore(opening: StoreCatalog.standard.store(at: target), OpenRequest(schema: work.schema))
        do throws(StorageError) {
            let report = try engine.run(work, to: to, isInSteps: false, report: show)
            try to.close()
            return report
        } catch {
            if to.state.wasCreated { try? to.ability((any WithdrawableStorage).self)?.withdraw() }
            try? to.close()
            throw error
        }
    }

    /// Refuses a copy that would lack data of another program's database, unless the loss is accepted.
    private func refuseLosses(of source: OpenStore) throws(StorageError) {
        let losses = (source.ability((any ForeignStorage).self)?.losses ?? []).filter { !options.acceptedLosses.contains($0) }
        if losses.isEmpty { return }
        throw StorageError(
            .dataLossRefused,
            "the copy would lack data of \(losses.joined(separator: ", ")) that cannot be read; accept it with \"acceptLoss\"")
    }

    private func show(_ progress: TransferProgress) {
        guard let callBack = self.progress else { return }
        let text = JSONText.object([
            ("name", JSONText.string(progress.name)), ("done", "\(progress.done)"), ("total", "\(progress.total)"),
            ("allDone", "\(progress.allDone)"), ("allTotal", "\(progress.allTotal)"), ("verifying", "\(progress.isVerifying)"),
        ])
        if text.withCString({ callBack.function($0, callBack.context) }) != 0 { limit.cancel() }
    }
}

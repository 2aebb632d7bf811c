internal import PolystoreStorage

/// A page that states what is wrong.
struct ProblemPage {
    private let error: StorageError

    init(_ error: StorageError) { self.error = error }

    /// The status: 404 for what does not exist, 400 for a request that the store cannot answer, and 503 for a store that fails.
    private var status: Int {
        switch error.code {
        case .notFound: 404
        case .invalidPredicate, .unsupported, .limitExceeded, .arithmeticOverflow, .divisionByZero, .tokenExpired: 400
        default: 503
        }
    }

    func answer(_ frame: PageFrame) -> StoreBrowser.Answer {
        let title = status == 404 ? "Not found" : status == 400 ? "Not possible" : "The store does not answer"
        let again: HTML = status == 503 ? #" <a class="plain" id="again" href="">Try again</a>"# : .nothing
        return frame.answer(
            title,
            """
            <section class="problem"><h1>\(title)</h1><p>\(Sentence.text(error.message))</p>
            <p><a class="plain" href="/">Overview</a>\(again)</p></section>
            """, status: status)
    }
}

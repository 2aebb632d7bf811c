internal import PolystoreStorage

/// A runner of cases over a store.
public struct ConformanceRunner: Sendable {
    /// The cases that match a pattern.
    public let cases: [ConformanceCase]

    /// Creates a runner of all cases whose names match one of some patterns with `*`; of all cases if there is no pattern.
    public init(only patterns: [String] = []) {
        let globs = patterns.map(Glob.init)
        cases = ConformanceSuite.cases.filter { item in globs.isEmpty || globs.contains { $0.matches(item.id) } }
    }

    /// Runs the cases over the scratch locations of a store.
    ///
    /// - Parameters:
    ///   - name: The name of the store in the report.
    ///   - harness: A maker of empty stores of the kind to test.
    ///   - jobs: The number of cases to run at the same time. Those that must run alone follow the others.
    public func run(_ name: String, _ harness: StoreHarness, jobs: Int = 1) -> ConformanceReport {
        let finished = SharedValue([Int: CaseResult]())
        func run(_ positions: [Int], on threads: Int) {
            Threads.run(positions.count, on: threads) { [cases] number in
                let result = cases[positions[number]].run(harness)
                finished.withLock { $0[positions[number]] = result }
                return true
            }
        }
        let isAlone = { [cases] position in jobs > 1 && cases[position].needsQuiet }
        harness.keepingFixture {
            run(cases.indices.filter { !isAlone($0) }, on: jobs)
            run(cases.indices.filter(isAlone), on: 1)
        }
        let results = finished.withLock { finished in cases.indices.compactMap { finished[$0] } }
        return ConformanceReport(
            store: name, capabilities: harness.capabilities.map(\.description).sorted(), seed: RandomCases.seed, results: results,
            untested: untested(results, harness.capabilities).map(\.description).sorted())
    }

    /// Returns the capabilities that a store declares and whose cases were all skipped.
    private func untested(
        _ results: [CaseResult], _ claimed: Set<StorageCapabilities.Capability>
    ) -> Set<StorageCapabilities.Capability> {
        var skipped: Set<StorageCapabilities.Capability> = [], tested: Set<StorageCapabilities.Capability> = []
        for (item, result) in zip(cases, results) {
            if result.status == .skipped { skipped.formUnion(item.needs) } else { tested.formUnion(item.needs) }
        }
        return skipped.subtracting(tested).intersection(claimed)
    }
}

/// A pattern in which `*` stands for any text.
struct Glob {
    private let pattern: [Character]

    init(_ pattern: String) { self.pattern = Array(pattern) }

    func matches(_ text: String) -> Bool { matches(Array(text)[...], pattern[...]) }

    private func matches(_ text: ArraySlice<Character>, _ pattern: ArraySlice<Character>) -> Bool {
        guard let first = pattern.first else { return text.isEmpty }
        if first == "*" {
            return (text.startIndex...text.endIndex).contains { matches(text[$0...], pattern.dropFirst()) }
        }
        return text.first == first && matches(text.dropFirst(), pattern.dropFirst())
    }
}

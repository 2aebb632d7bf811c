public import PolystoreStorage

/// A requirement that every store must meet, as a value: the same list runs in tests, in the runner and in other packages.
public struct ConformanceCase: Sendable, CustomStringConvertible {
    /// The name: group, number and the requirement, such as `V002.int64-extremes`.
    public let id: String
    /// The clauses of the contract (`Conformance/Contract.md`) that it tests, such as `W4` or `W4, X2`.
    public let clause: String
    /// The capabilities that the store must have; without them the case is skipped.
    public let needs: Set<StorageCapabilities.Capability>
    /// The capabilities that the store must lack: the counterpart of cases that need them.
    public let needsAbsent: Set<StorageCapabilities.Capability>
    let body: @Sendable (StoreHarness, Check) throws -> Void

    init(
        _ id: String, clause: String, needs: Set<StorageCapabilities.Capability> = [],
        needsAbsent: Set<StorageCapabilities.Capability> = [], _ body: @escaping @Sendable (StoreHarness, Check) throws -> Void
    ) {
        self.id = id
        self.clause = clause
        self.needs = needs
        self.needsAbsent = needsAbsent
        self.body = body
    }

    /// The name.
    public var description: String { id }

    /// Whether the case observes background activity and therefore must run alone: while hundreds of other cases occupy all threads, it
    /// would wait longer than its timeouts allow. The runner runs one case at a time.
    public var needsQuiet: Bool { id.hasPrefix("N") }

    /// Runs the case over a store. A case whose body has checked nothing is skipped.
    public func run(_ harness: StoreHarness) -> CaseResult {
        let start = ContinuousClock.now, (status, messages) = outcome(harness)
        return CaseResult(id: id, clause: clause, status: status, messages: messages, duration: start.duration(to: .now))
    }

    private func outcome(_ harness: StoreHarness) -> (CaseResult.Status, [String]) {
        let missing = needs.subtracting(harness.capabilities).map(\.description).sorted()
        if !missing.isEmpty { return (.skipped, ["needs \(missing.joined(separator: ", "))"]) }
        let present = needsAbsent.intersection(harness.capabilities).map(\.description).sorted()
        if !present.isEmpty { return (.skipped, ["has \(present.joined(separator: ", "))"]) }
        let check = Check()
        do {
            try body(harness, check)
            if check.count == 0 { throw NothingToCheck("checked nothing") }
        } catch let reason as NothingToCheck {
            if check.failures.isEmpty { return (.skipped, [reason.description]) }
        } catch {
            return (.error, check.failures + ["\(error)"])
        }
        return (check.failures.isEmpty ? .pass : .fail, check.failures)
    }
}

/// The error of a case that finds out while it runs that the store gives it nothing to check.
struct NothingToCheck: Error, CustomStringConvertible {
    /// The reason.
    let description: String

    init(_ reason: String) { description = reason }
}

/// The result of a case.
public struct CaseResult: Sendable, Hashable {
    /// The kinds of results.
    public enum Status: String, Sendable {
        /// Every check held.
        case pass
        /// A check did not hold.
        case fail
        /// The case threw.
        case error
        /// The store lacks, or has, a capability, or there was nothing to check.
        case skipped
    }

    /// The name of the case.
    public let id: String
    /// The clauses of the contract that it tests.
    public let clause: String
    /// The kind of the result.
    public let status: Status
    /// The failed checks, or the reason for skipping the case.
    public let messages: [String]
    /// The time that the case took.
    public let duration: Duration
}

/// All cases of the suite.
public enum ConformanceSuite {
    /// The cases in the order of their names.
    public static let cases: [ConformanceCase] =
        ValueCases.all + ObjectCases.all + TransactionCases.all + ClosingCases.all + OutcomeCases.all + SessionCases.all
        + PredicateCases.all + SearchFacts.cases + SearchCases.all
        + ConstantCases.all + PartialIndexCases.all + OrderCases.all + EdgeCases.all
        + AggregateCases.all + QueryCases.all + EngineCases.all + ComputationCases.all
        + RandomCases.all
        + HistoryCases.all + HistoryPurgeCases.all + HistoryPollingCases.all
        + RelationshipCases.all + DeletionCases.all + ReferenceCases.all + UniqueCases.all + UpsertCases.all + BatchCases.all + SQLCases.all
        + StreamCases.all
        + PartialCases.all + WholenessCases.all + WideCases.all + BlockCases.all + OrderedPairCases.all
        + FailureCases.all
        + LockingCases.all + DetachedCases.all + CountCases.all + QueueCases.all
        + IsolationCases.all
        + RoutingCases.all + JointCases.all + IdentityCases.all + PendingCases.all
        + ContextCases.all + ConditionCases.all + ComputedCases.all + ImportCases.all
        + MigrationCases.all + RelationshipMigrations.all + MappedMigrations.all + LeavingMigrations.all
        + TransformerCases.all + TransformerObjects.all + TransformerLosses.all + ChainCases.all + StepCases.all + RandomMigrations.all
        + SchemaCases.all + ConstraintCases.all
        + WatchingCases.all + EventCases.all + PlaceCases.all + BatchEventCases.all + ConsumerCases.all
        + RandomObservation.all + RacingCases.all + TwoStackCases.all + SourceCases.all + InterludeCases.all
        + RollingCases.all + RollingRelationships.all + RollingPhases.all + RollingEndings.all + RollingRefusals.all + RandomRolling.all
}

internal import Foundation
internal import PolystoreStorage

/// Runs random programs over stores and pairs of stores, beside the naive model.
struct ProgramSuite: Sendable {
    /// The result of a run.
    struct Result: Sendable {
        var programs = 0
        var operations = 0
        var differences: [(program: GraphProgram, difference: ProgramDifference)] = []
    }

    /// The number of differences after which a run ends: most of them have the same cause.
    private static let most = 5

    let targets: [ProgramTarget]
    let operations: Int
    let schema: Schema?

    /// Creates a suite over every store by itself, and over every pair.
    init(_ harnesses: [StoreHarness], operations: Int, schema: Schema?) throws {
        let single = harnesses.map { ProgramTarget([$0]) }
        let pairs = harnesses.flatMap { first in harnesses.map { ProgramTarget([first, $0]) } }
        targets = single + pairs.filter(\.commitsTogether)
        self.operations = operations
        self.schema = try schema.map { given in
            // In a pair both stores hold every entity, unless the model has a configuration for the second store.
            if given.configurations[GraphProgram.second] != nil { return given }
            let configurations = given.configurations.merging([GraphProgram.second: given.entities.map(\.name)]) { own, _ in own }
            return try Schema(version: given.version, entities: given.entities, configurations: configurations)
        }
    }

    /// Runs programs whose seeds follow one another.
    ///
    /// - Parameters:
    ///   - jobs: The number of programs to run at the same time.
    ///   - tell: A closure that is called with the text of each difference.
    func run(
        programs: Int, seed: UInt64, most: Int = Self.most, jobs: Int = 1, telling tell: @escaping @Sendable (String) -> Void = { _ in }
    ) throws -> Result {
        let found = SharedValue((result: Result(), failure: (any Error)?.none))
        Threads.run(programs, on: jobs) { number in
            do {
                let program = try ProgramGenerator.program(
                    seed: seed &+ UInt64(number), operations: operations, schema: schema, migrates: targets.contains(where: \.isPersistent))
                let difference = try difference(program, number)
                return found.withLock { found in
                    found.result.programs += 1
                    found.result.operations += program.operations
                    if let difference {
                        found.result.differences.append(difference)
                        tell(ProgramPrinter.text(difference.0, difference.1))
                    }
                    return found.result.differences.count < most
                }
            } catch {
                found.withLock { $0.failure = $0.failure ?? error }
                return false
            }
        }
        return try found.withLock { found in
            if let failure = found.failure { throw failure }
            return found.result
        }
    }

    /// Returns the first difference of a program on any target, after reduction.
    private func difference(_ program: GraphProgram, _ number: Int) throws -> (GraphProgram, ProgramDifference)? {
        var trace: [String]?
        // Pairs alternate: a server takes long to create two schemas.
        // Stores that are closed and opened with the next version of the model must keep their data.
        let able = program.migrates ? targets.filter(\.isPersistent) : targets
        let singles = able.filter { $0.count == 1 }, pairs = able.filter { $0.count > 1 }
        for target in singles + (pairs.isEmpty ? [] : [pairs[number % pairs.count]]) {
            let run = try ProgramRun.run(program, target, comparing: target.count == 1 ? trace : nil)
            if let difference = run.difference {
                return ProgramShrinker(target, target.count == 1 ? singles[0] : nil).smallest(program, difference)
            }
            if trace == nil { trace = run.trace }
        }
        return nil
    }
}

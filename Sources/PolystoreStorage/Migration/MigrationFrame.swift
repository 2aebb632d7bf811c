/// The state that all objects created by transformers share. Each object holds one reference instead of six.
final class MigrationFrame {
    let old: Schema
    let batch: RowBatch
    let keys: MigrationKeys
    let problems: MigrationProblems

    init(_ old: Schema, _ batch: RowBatch, _ keys: MigrationKeys, _ problems: MigrationProblems) {
        self.old = old
        self.batch = batch
        self.keys = keys
        self.problems = problems
    }
}

public import Foundation
internal import PolystoreStorage

extension Where {
    /// Creates a condition from Foundation's `#Predicate`: `Where(#Predicate<Person> { $0.age > 30 && $0.name.contains("x") })`.
    ///
    /// The predicate is translated to the same tree as conditions from key paths, with the same meaning on every store: two-valued logic,
    /// with texts compared by bytes and measured in Unicode scalars. Foundation does not evaluate it. To refer to an object, capture its
    /// `objectID`. A part that cannot be translated, and a captured value that no attribute can have, is `invalidPredicate`, which the
    /// request with the condition throws.
    public init(_ predicate: Predicate<Object>) {
        do throws(StorageError) {
            let lowering = Lowering(variable: predicate.variable.key)
            self.init(try lowering.condition(lowering.lower(predicate.expression)).predicate)
        } catch {
            self.init(.constant(false), problem: error)
        }
    }
}

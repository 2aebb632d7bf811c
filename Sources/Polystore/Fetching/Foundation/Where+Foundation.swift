public import Foundation
internal import PolystoreStorage

extension Where {
    /// The condition of Foundation's `#Predicate`: `Where(#Predicate<Person> { $0.age > 30 && $0.name.contains("x") })`.
    ///
    /// The predicate becomes the tree that key paths make, and means what that tree means on every store: two-valued logic, texts compared
    /// by bytes and counted by Unicode scalars. It is not run by Foundation. What captures an object captures its `objectID`. A part
    /// that has no such meaning, and a captured value that no attribute can have, is `invalidPredicate`, thrown by the request that uses
    /// the condition.
    public init(_ predicate: Predicate<Object>) {
        do throws(StorageError) {
            let lowering = Lowering(variable: predicate.variable.key)
            self.init(try lowering.condition(lowering.lower(predicate.expression)).predicate)
        } catch {
            self.init(.constant(false), problem: error)
        }
    }
}

internal import PolystoreStorage

/// The resolution of a key path, by reading it on an object that records the accesses.
///
/// Swift's key paths have no reliable names on Linux, and do not distinguish a stored property from one that is computed from it. Therefore the path
/// is read several times, each time with another value in the accessed property: if the result is that value each time, the path is the
/// property or equivalent to it.
package final class KeyPathProbe {
    /// The most recent access.
    enum Reading {
        case nothing
        /// An attribute; without its declaration if that is unknown.
        case attribute(ManagedObject, slot: Int, Attribute?)
        /// The destination of a to-one relationship.
        case object(ManagedObject?)
        /// The destinations of a to-many relationship.
        case objects(AnyHashable)
        /// The identity of an object.
        case identity(ObjectKey)
        /// A computed property with an expression, and the value of a type that it returned.
        case computed(Value, ValueType)
        /// The declaration of a property in place of its value.
        case declaration
    }

    /// The values of properties while a key path is read.
    enum Trial: Equatable {
        /// The values of a new object.
        case defaults
        /// The sample at a position.
        case sample(Int)
        /// Nil for the to-one relationship at a position of the path.
        case nothing(at: Int)
    }

    private let trial: Trial
    private var names: [String] = []
    private var current: ObjectIdentifier?
    private var isAmbiguous = false
    private var reading = Reading.nothing
    /// The expression of a computed property at the end of the path, and its error.
    private var computed: (expression: QueryExpression, problem: StorageError?)?
    /// Whether the result of the path can be nil, regardless of its type.
    private var isNilable = false
    /// The number of to-one relationships that were read.
    private var references = 0
    /// Whether the accessed property can have another value.
    private var isVariable = false
    /// Whether the accessed attribute has a coder.
    private var isCoded = false
    /// Whether there are no more samples.
    private var isExhausted = false
    /// Whether the type of the property does not have the sample.
    var isRefused = false
    /// The destination objects. They are retained until the key path is resolved, because they are identified by address.
    private var children: [ManagedObject] = []

    init(_ trial: Trial = .defaults) { self.trial = trial }

    private func step(_ object: ManagedObject, _ name: String, to child: ManagedObject? = nil) {
        if current != ObjectIdentifier(object) { isAmbiguous = true }
        names.append(name)
        current = child.map(ObjectIdentifier.init)
        if let child { children.append(child) }
    }

    private func sample(for attribute: Attribute) -> Value? {
        guard case .sample(let position) = trial else { return nil }
        let samples = attribute.samples
        if position < samples.count { return samples[position] }
        isExhausted = true
        return nil
    }
}

extension KeyPathProbe {
    /// Records the access to an attribute, and assigns the sample of this trial to it.
    func recordAttribute(_ object: ManagedObject, _ slot: Int) {
        let name = type(of: object)._slotNames[slot]
        let attribute = object.declaredAttribute(name)
        step(object, name)
        reading = .attribute(object, slot: slot, attribute)
        isCoded = attribute?.coder != nil
        isNilable = isNilable || attribute?.isOptional == true
        // A value that was already returned is not replaced.
        if !isAmbiguous, let attribute, let sample = sample(for: attribute) { object.hold(sample, slot) }
    }

    /// Records the access to a to-one relationship, and returns its destination.
    func recordReference<T: ManagedObject>(_ object: ManagedObject, _ slot: Int, _ context: ObjectContext) -> T? {
        let leadsNowhere = trial == .nothing(at: references)
        let child = leadsNowhere ? nil : T(_new: 0, 0, context)
        step(object, type(of: object)._slotNames[slot], to: child)
        reading = .object(child)
        isNilable = true
        references += 1
        return child
    }

    /// Records the access to a to-many relationship, and returns many objects, or none in the first trial.
    func recordMembers<T: ManagedObject, Members: Hashable>(
        _ object: ManagedObject, _ name: String, _ context: ObjectContext, _ make: ([T]) -> Members
    ) -> Members {
        step(object, name)
        let members = (0..<(trial == .defaults ? 0 : 500)).map { _ in T(_new: 0, 0, context) }
        let made = make(members)
        if trial == .sample(1) { isExhausted = true }
        reading = .objects(AnyHashable(made))
        return made
    }

    /// Records the access to the identity of an object, which must be the end of the path.
    func recordIdentity(_ object: ManagedObject) -> ObjectKey {
        step(object, PropertyPath.object.description)
        if trial == .sample(1) { isExhausted = true }
        let key = ObjectKey(store: .placeholder, root: "", key: trial == .defaults ? 0 : 7)
        reading = .identity(key)
        return key
    }

    /// Records the access to a computed property with an expression, and returns a sample of its type.
    func recordComputed<V: AttributeValue>(
        _ object: ManagedObject, _ expression: () -> (expression: QueryExpression, problem: StorageError?)
    ) -> V {
        step(object, "")
        if trial == .defaults { computed = expression() }
        let attribute = Attribute("", V.valueType, isOptional: V.isOptionalAttribute, allowedValues: V.allowedValues, coder: V.coderName)
        let value = sample(for: attribute).flatMap { V(attributeValue: $0) } ?? V.placeholder
        reading = .computed(value.attributeValue, attribute.type)
        isNilable = isNilable || V.isOptionalAttribute
        return value
    }

    /// Records that the path ends at the declaration of a stored property.
    private func recordDeclaration(_ declaration: any PropertyDeclaration) {
        guard let name = declaration.storedName, let owner = declaration.declaringObject else { return }
        step(owner, name)
        reading = .declaration
    }
}

extension KeyPathProbe {
    /// The target of a key path.
    enum Target: Sendable {
        /// A stored property, through to-one relationships.
        case stored(PropertyPath)
        /// A computed property with an expression, of the object at the end of to-one relationships.
        case computed(QueryExpression, of: [String])
    }

    /// Returns the stored names along a key path.
    ///
    /// - Throws: `invalidPredicate` if the target is not a stored property.
    package static func resolve<Object: ManagedObject, Property>(_ keyPath: KeyPath<Object, Property>) throws(StorageError) -> PropertyPath
    {
        if case .stored(let path) = try target(keyPath) { return path }
        throw StorageError(
            .invalidPredicate, "a computed property of \(Object.self) cannot be used here; use a stored property")
    }

    /// Returns the value of a key path as an expression, for a stored property or a computed one with an expression.
    ///
    /// - Throws: `invalidPredicate` if the target is a computed property without an expression.
    package static func expression<Object: ManagedObject, Property>(
        _ keyPath: KeyPath<Object, Property>
    ) throws(StorageError) -> QueryExpression {
        switch try target(keyPath) {
        case .stored(let path): return .path(path)
        case .computed(let expression, let names): return try expression.behind(names)
        }
    }

    /// Returns the target of a key path.
    static func target<Object: ManagedObject, Property>(_ keyPath: KeyPath<Object, Property>) throws(StorageError) -> Target {
        if let known = KnownKeyPaths.find(keyPath) { return known }
        let target = try find(keyPath)
        KnownKeyPaths.keep(target, keyPath)
        return target
    }

    /// Returns the stored names that a key path reads, regardless of its result.
    static func names<Object: ManagedObject, Property>(readBy keyPath: KeyPath<Object, Property>) throws(StorageError) -> PropertyPath {
        if let known = KnownKeyPaths.find(keyPath), case .stored(let path) = known { return path }
        if keyPath == \Object.self { return .object }
        let probe = KeyPathProbe()
        _ = probe.gives(keyPath)
        if probe.isAmbiguous || probe.names.isEmpty || probe.computed != nil { throw probe.problem(keyPath) }
        return PropertyPath(probe.names)
    }

    private static func find<Object: ManagedObject, Property>(_ keyPath: KeyPath<Object, Property>) throws(StorageError) -> Target {
        if keyPath == \Object.self { return .stored(.object) }
        let first = KeyPathProbe()
        let isSame = first.gives(keyPath)
        if first.isAmbiguous || first.names.isEmpty { throw first.problem(keyPath) }
        guard isSame, first.isSettled(keyPath) else { throw first.isComputed(keyPath) }
        if let problem = first.computed?.problem { throw problem }
        var position = 0
        while true {
            let probe = KeyPathProbe(.sample(position))
            let isSame = probe.gives(keyPath)
            if probe.isExhausted { break }
            guard isSame || probe.isRefused, probe.names == first.names, !probe.isAmbiguous else {
                throw first.isComputed(keyPath)
            }
            if !probe.isVariable { break }
            position += 1
        }
        for position in 0..<(isForced(keyPath) ? 0 : first.references) where Property.self is any AnyOptional.Type {
            let probe = KeyPathProbe(.nothing(at: position))
            guard probe.gives(keyPath), !probe.isAmbiguous, probe.names.count == position + 1 else {
                throw first.isComputed(keyPath)
            }
        }
        if let computed = first.computed { return .computed(computed.expression, of: first.names.dropLast()) }
        return .stored(PropertyPath(first.names))
    }

    /// Whether the path force-unwraps with `!`, which is visible in its description.
    private static func isForced(_ keyPath: AnyKeyPath) -> Bool { keyPath.debugDescription.contains("!") }

    /// Whether the path preserves nil: its type is optional, or it force-unwraps with `!`. Otherwise another value replaces nil.
    private func isSettled<Object, Property>(_ keyPath: KeyPath<Object, Property>) -> Bool {
        !isNilable || Property.self is any AnyOptional.Type || Self.isForced(keyPath)
    }

    /// Reads a key path. Returns true if the result is the value of the accessed property.
    private func gives<Object: ManagedObject, Property>(_ keyPath: KeyPath<Object, Property>) -> Bool {
        let context = ObjectContext(stack: .none, model: .none, probe: self)
        let object = Object(_new: 0, 0, context)
        // The recorded access retains the context, and the context retains the probe.
        defer {
            children.removeAll()
            reading = .nothing
        }
        current = ObjectIdentifier(object)
        let value = unwrapping(object[keyPath: keyPath])
        if let declaration = value as? any PropertyDeclaration { recordDeclaration(declaration) }
        switch reading {
        case .nothing, .object, .attribute(_, _, nil), .declaration: isVariable = false
        case .attribute, .objects, .identity, .computed: isVariable = true
        }
        return isHeld(value)
    }

    /// Whether a value, or nil, is the value of the property that was accessed last.
    private func isHeld(_ value: Any?) -> Bool {
        func stored(_ value: Any?) -> Value? { value.map { ($0 as? any AttributeValue)?.attributeValue } ?? .null }
        switch reading {
        case .nothing: return false
        case .attribute(_, _, nil), .declaration: return true
        case .attribute(let object, let slot, let attribute?):
            return stored(value) == object.held(slot, as: attribute.type) && !Self.isNarrower(value, than: attribute.type)
        case .object(let child): return value.map { ($0 as? ManagedObject) === child && child != nil } ?? (child == nil)
        case .objects(let members): return (value as? AnyHashable) == members
        case .identity(let key): return (value as? any UntypedIdentity)?.key == key
        case .computed(let given, let type): return stored(value) == given && !Self.isNarrower(value, than: type)
        }
    }

    /// Whether a value has an integer type that is smaller than that of its property. The conversion may end the process for the samples of
    /// the larger type.
    private static func isNarrower(_ value: Any?, than type: ValueType) -> Bool {
        let order: [ValueType] = [.int16, .int32, .int64]
        guard let value = value as? any AttributeValue, let width = order.firstIndex(of: Swift.type(of: value).valueType),
            let full = order.firstIndex(of: type)
        else { return false }
        return width < full
    }

    /// The key path as the subject of a sentence.
    private static func subject<Object: ManagedObject, Property>(_ keyPath: KeyPath<Object, Property>) -> String {
        KeyPathNames.names(of: keyPath).map { "\(Object.self).\($0)" } ?? "a key path of \(Object.self) to a value of type \(Property.self)"
    }

    private func problem<Object: ManagedObject, Property>(_ keyPath: KeyPath<Object, Property>) -> StorageError {
        let read = names.filter { !$0.isEmpty }.reduce(into: [String]()) { if !$0.contains($1) { $0.append($1) } }
        return StorageError(
            .invalidPredicate,
            "\(Self.subject(keyPath)) is computed from \(read.isEmpty ? "no stored property" : read.map { "\"\($0)\"" }.joined(separator: ", ")); "
                + "use one stored property, through to-one relationships, or define an expression for the property with computed(as:)")
    }

    private func isComputed<Object: ManagedObject, Property>(_ keyPath: KeyPath<Object, Property>) -> StorageError {
        let path = PropertyPath(names.filter { !$0.isEmpty }).description, entity = Object._entityName
        if computed != nil {
            return StorageError(
                .invalidPredicate,
                "\(Self.subject(keyPath)) is computed from another computed property; define an expression for it with computed(as:)",
                details: .init(entity: entity))
        }
        if isCoded {
            return StorageError(
                .invalidPredicate,
                "\(Self.subject(keyPath)) is a part of \"\(path)\", which is stored and compared as a whole; make its parts attributes, or an "
                    + "entity",
                details: .init(entity: entity, property: path))
        }
        return StorageError(
            .invalidPredicate,
            "\(Self.subject(keyPath)) is computed from \"\(path)\"; use \"\(path)\" itself, an expression such as those of ValueExpression, "
                + "or define an expression for the property with computed(as:)",
            details: .init(entity: entity, property: path))
    }
}

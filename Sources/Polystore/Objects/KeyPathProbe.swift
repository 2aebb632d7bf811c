internal import PolystoreStorage

/// Finds out what a key path leads to, by reading it on an object that records what is read.
///
/// Swift's key paths have no names on Linux, and do not tell a stored property from one that is computed of it. So the path is read several
/// times, each time with another value in the property that it reads: what always gives that value is the property, or means the same.
final class KeyPathProbe {
    /// What was read last.
    enum Reading {
        case nothing
        /// An attribute; without its declaration where that is not known.
        case attribute(ManagedObject, slot: Int, Attribute?)
        /// The object that a to-one relationship leads to.
        case object(ManagedObject?)
        /// The objects that a to-many relationship leads to.
        case objects(AnyHashable)
        /// The identity of an object.
        case identity(ObjectKey)
        /// A computed property with an expression, and the value that it gave.
        case computed(Value)
    }

    /// What properties hold while a key path is read.
    enum Trial: Equatable {
        /// What those of a new object hold.
        case defaults
        /// The sample at a position.
        case sample(Int)
        /// The to-one relationship at a position of the path leads nowhere.
        case nothing(at: Int)
    }

    private let trial: Trial
    private var names: [String] = []
    private var current: ObjectIdentifier?
    private var isAmbiguous = false
    private var reading = Reading.nothing
    /// The expression of a computed property at the end, and what is wrong with it.
    private var computed: (expression: QueryExpression, problem: StorageError?)?
    /// Whether nil can be what the path leads to, whatever its type says.
    private var isNilable = false
    /// The number of to-one relationships that were read.
    private var references = 0
    /// Whether what was read can hold something else.
    private var isVariable = false
    /// Whether there are no more samples.
    private var isExhausted = false
    /// Whether the type of the property does not have the sample.
    var isRefused = false
    /// Children live until the key path is resolved: they are known by their addresses.
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
    /// Records that an attribute was read, and lets it hold the sample of this trial.
    func recordAttribute(_ object: ManagedObject, _ slot: Int) {
        let name = type(of: object)._slotNames[slot]
        let attribute = object.declaredAttribute(name)
        step(object, name)
        reading = .attribute(object, slot: slot, attribute)
        isNilable = isNilable || attribute?.isOptional == true
        // What was given out once is not replaced.
        if !isAmbiguous, let attribute, let sample = sample(for: attribute) { object.hold(sample, slot) }
    }

    /// Records that a to-one relationship was read, and gives the object that it leads to.
    func recordReference<T: ManagedObject>(_ object: ManagedObject, _ slot: Int, _ context: ObjectContext) -> T? {
        let leadsNowhere = trial == .nothing(at: references)
        let child = leadsNowhere ? nil : T(_new: 0, 0, context)
        step(object, type(of: object)._slotNames[slot], to: child)
        reading = .object(child)
        isNilable = true
        references += 1
        return child
    }

    /// Records that a to-many relationship was read, and gives some objects.
    func recordMembers<T: ManagedObject, Members: Hashable>(
        _ object: ManagedObject, _ name: String, _ context: ObjectContext, _ make: ([T]) -> Members
    ) -> Members {
        step(object, name)
        let members = (0..<3).map { _ in T(_new: 0, 0, context) }
        let made = make(trial == .defaults ? [] : members)
        if trial == .sample(1) { isExhausted = true }
        reading = .objects(AnyHashable(made))
        return made
    }

    /// Records that the identity of an object was read, which no other property follows.
    func recordIdentity(_ object: ManagedObject) -> ObjectKey {
        step(object, PropertyPath.object.description)
        if trial == .sample(1) { isExhausted = true }
        let key = ObjectKey(store: .placeholder, root: "", key: trial == .defaults ? 0 : 7)
        reading = .identity(key)
        return key
    }

    /// Records that a computed property with an expression was read, and gives a sample of its type.
    func recordComputed<Object: ManagedObject, V: AttributeValue>(
        _ object: ManagedObject, _ expression: () -> ValueExpression<Object, V>
    ) -> V {
        step(object, "")
        if trial == .defaults {
            let made = Nesting.deeper(expression)
            computed = (made.expression, made.problem)
        }
        let attribute = Attribute("", V.valueType, isOptional: V.isOptionalAttribute, allowedValues: V.allowedValues, coder: V.coderName)
        let value = sample(for: attribute).flatMap { V(attributeValue: $0) } ?? V.placeholder
        reading = .computed(value.attributeValue)
        isNilable = isNilable || V.isOptionalAttribute
        return value
    }
}

extension KeyPathProbe {
    /// What a key path leads to.
    enum Target: Sendable {
        /// A stored property, through to-one relationships.
        case stored(PropertyPath)
        /// A computed property that says what it is in a request, of the object that to-one relationships lead to.
        case computed(QueryExpression, of: [String])
    }

    /// The stored names on the way of a key path.
    ///
    /// - Throws: `invalidPredicate` where it leads to no stored property.
    static func resolve<Object: ManagedObject, Property>(_ keyPath: KeyPath<Object, Property>) throws(StorageError) -> PropertyPath {
        if case .stored(let path) = try target(keyPath) { return path }
        throw StorageError(
            .invalidPredicate, "a computed property of \(Object.self) has no place here, whatever its expression; name a stored property")
    }

    /// The value that a key path leads to, as an expression: that of a stored property, or of a computed one that says what it is.
    ///
    /// - Throws: `invalidPredicate` where it leads to a computed property without an expression.
    static func expression<Object: ManagedObject, Property>(_ keyPath: KeyPath<Object, Property>) throws(StorageError) -> QueryExpression {
        switch try target(keyPath) {
        case .stored(let path): return .path(path)
        case .computed(let expression, let names): return try expression.behind(names)
        }
    }

    /// What a key path leads to.
    static func target<Object: ManagedObject, Property>(_ keyPath: KeyPath<Object, Property>) throws(StorageError) -> Target {
        if let known = KnownKeyPaths.find(keyPath) { return known }
        let target = try find(keyPath)
        KnownKeyPaths.keep(target, keyPath)
        return target
    }

    /// The stored names that a key path reads, whatever it makes of them.
    static func names<Object: ManagedObject, Property>(readBy keyPath: KeyPath<Object, Property>) throws(StorageError) -> PropertyPath {
        if let known = KnownKeyPaths.find(keyPath), case .stored(let path) = known { return path }
        if keyPath == \Object.self { return .object }
        let probe = KeyPathProbe()
        _ = probe.gives(keyPath)
        if probe.isAmbiguous || probe.names.isEmpty || probe.computed != nil { throw probe.problem(Object.self) }
        return PropertyPath(probe.names)
    }

    private static func find<Object: ManagedObject, Property>(_ keyPath: KeyPath<Object, Property>) throws(StorageError) -> Target {
        if keyPath == \Object.self { return .stored(.object) }
        let first = KeyPathProbe()
        let isSame = first.gives(keyPath)
        if first.isAmbiguous || first.names.isEmpty { throw first.problem(Object.self) }
        guard isSame, first.isSettled(keyPath) else { throw first.isComputed(Object.self, Property.self) }
        if let problem = first.computed?.problem { throw problem }
        var position = 0
        while true {
            let probe = KeyPathProbe(.sample(position))
            let isSame = probe.gives(keyPath)
            if probe.isExhausted { break }
            guard isSame || probe.isRefused, probe.names == first.names, !probe.isAmbiguous else {
                throw first.isComputed(Object.self, Property.self)
            }
            if !probe.isVariable { break }
            position += 1
        }
        for position in 0..<(isForced(keyPath) ? 0 : first.references) where Property.self is any AnyOptional.Type {
            let probe = KeyPathProbe(.nothing(at: position))
            guard probe.gives(keyPath), !probe.isAmbiguous, probe.names.count == position + 1 else {
                throw first.isComputed(Object.self, Property.self)
            }
        }
        if let computed = first.computed { return .computed(computed.expression, of: first.names.dropLast()) }
        return .stored(PropertyPath(first.names))
    }

    /// Whether the path unwraps by `!`, which its description shows.
    private static func isForced(_ keyPath: AnyKeyPath) -> Bool { keyPath.debugDescription.contains("!") }

    /// Whether the path says what becomes of nil: its type has it, or it unwraps by `!`. Otherwise something else stands in for nil.
    private func isSettled<Object, Property>(_ keyPath: KeyPath<Object, Property>) -> Bool {
        !isNilable || Property.self is any AnyOptional.Type || Self.isForced(keyPath)
    }

    /// Reads a key path; true if it gives what the property that it reads holds.
    private func gives<Object: ManagedObject, Property>(_ keyPath: KeyPath<Object, Property>) -> Bool {
        let context = ObjectContext(stack: .none, model: .none, probe: self)
        let object = Object(_new: 0, 0, context)
        // What was read holds the context, and the context holds the probe.
        defer {
            children.removeAll()
            reading = .nothing
        }
        current = ObjectIdentifier(object)
        let value = object[keyPath: keyPath]
        switch reading {
        case .nothing, .object, .attribute(_, _, nil): isVariable = false
        case .attribute, .objects, .identity, .computed: isVariable = true
        }
        return isHeld(Constants.unwrapping(value))
    }

    /// Whether a value, nil for nil, is what the property that was read last holds.
    private func isHeld(_ value: Any?) -> Bool {
        func stored(_ value: Any?) -> Value? { value.map { ($0 as? any AttributeValue)?.attributeValue } ?? .null }
        switch reading {
        case .nothing: return false
        case .attribute(_, _, nil): return true
        case .attribute(let object, let slot, let attribute?): return stored(value) == object.held(slot, as: attribute.type)
        case .object(let child): return value.map { ($0 as? ManagedObject) === child && child != nil } ?? (child == nil)
        case .objects(let members): return (value as? AnyHashable) == members
        case .identity(let key): return (value as? any UntypedIdentity)?.key == key
        case .computed(let given): return stored(value) == given
        }
    }

    private func problem(_ type: ManagedObject.Type) -> StorageError {
        StorageError(
            .invalidPredicate,
            "a key path of \(type) reads \(names.isEmpty ? "no stored property" : "several properties"); "
                + "name one stored property, through to-one relationships, or say with computed(as:) what the property is in a request")
    }

    private func isComputed<Property>(_ type: ManagedObject.Type, _ property: Property.Type) -> StorageError {
        let path = PropertyPath(names.filter { !$0.isEmpty }).description
        if computed != nil {
            return StorageError(
                .invalidPredicate,
                "a key path of \(type) to a value of type \(property) computes it from another computed property; say with computed(as:) what it "
                    + "is in a request", details: .init(entity: type._entityName))
        }
        return StorageError(
            .invalidPredicate,
            "a key path of \(type) to a value of type \(property) computes it from \"\(path)\"; name \"\(path)\" itself, use an expression "
                + "such as those of ValueExpression, or say with computed(as:) what the property is in a request",
            details: .init(entity: type._entityName, property: path))
    }
}

/// The continuation of a walk after a node.
package enum CheckedWalk {
    /// The walk visits the parts of the node.
    case into
    /// The walk skips the parts of the node and continues after it.
    case over
    /// The walk ends.
    case out
}

internal import PolystoreStorage

/// A string or an optional string, to which text conditions apply.
public protocol TextAttribute: AttributeValue {}

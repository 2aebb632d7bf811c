@_exported public import Polystore
@_exported public import PolystoreDefaults

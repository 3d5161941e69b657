import Foundation

extension String {
    /// The text as a part of an address, where all but unreserved characters of RFC 3986 are encoded.
    var percentEncoded: String {
        let unreserved = CharacterSet(
            charactersIn: "-._~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
        )
        return addingPercentEncoding(withAllowedCharacters: unreserved) ?? self
    }
}

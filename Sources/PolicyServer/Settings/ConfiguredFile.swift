import SystemPackage

/// Reads a small file that a setting names.
enum ConfiguredFile {
    /// The most bytes that are read of a file.
    private static let maximumBytes = 1 << 20

    /// Reads a file.
    ///
    /// - Parameter setting: The names of the setting, for errors.
    /// - Throws: ``ConfigurationError`` that names the file and what is wrong with it.
    static func read(_ file: String, _ setting: String) throws(ConfigurationError) -> [UInt8] {
        do {
            let bytes = try contents(of: file)
            guard bytes.count <= maximumBytes else {
                throw ConfigurationError("it has more than \(maximumBytes) bytes")
            }
            return bytes
        } catch {
            throw ConfigurationError("\(setting): \(file) cannot be read: \(error)")
        }
    }

    /// The bytes of a file, or the first of one that is too long.
    static func contents(of file: String) throws -> [UInt8] {
        // A pipe without a writer would otherwise be waited for.
        let descriptor = try FileDescriptor.open(FilePath(file), .readOnly, options: [.nonBlocking, .closeOnExec])
        return try descriptor.closeAfter {
            var bytes = [UInt8](repeating: 0, count: maximumBytes + 1)
            var count = 0
            while count < bytes.count {
                let readCount = try bytes.withUnsafeMutableBytes { buffer in
                    try descriptor.read(into: UnsafeMutableRawBufferPointer(rebasing: buffer[count...]))
                }
                if readCount == 0 { break }
                count += readCount
            }
            return Array(bytes[..<count])
        }
    }
}

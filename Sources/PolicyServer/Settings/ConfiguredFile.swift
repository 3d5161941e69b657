// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

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
        func fault(_ why: String) -> ConfigurationError {
            ConfigurationError("\(setting): \(file) cannot be read: \(why)")
        }
        do {
            // A pipe without a writer would otherwise be waited for.
            let descriptor = try FileDescriptor.open(FilePath(file), .readOnly, options: [.nonBlocking, .closeOnExec])
            let result = Result {
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
            try descriptor.close()
            let bytes = try result.get()
            guard bytes.count <= maximumBytes else { throw fault("it has more than \(maximumBytes) bytes") }
            return bytes
        } catch let error as Errno {
            throw fault(error.description)
        } catch let error as ConfigurationError {
            throw error
        } catch {
            throw fault("\(error)")
        }
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

extension PolicyDocument {
    /// Reads a policy file.
    ///
    /// - Parameter bytes: The contents of the file: YAML in UTF-8.
    /// - Throws: ``PolicyFileFaults`` with all faults that could be found.
    public init(_ bytes: [UInt8]) throws(PolicyFileFaults) {
        guard bytes.count <= Self.largestFile else {
            throw PolicyFileFaults(faults: [
                PolicyFileFault(
                    .start,
                    "the file has \(bytes.count) bytes, more than the \(Self.largestFile) that are read",
                    hint: "Shorten the notes, or edit with the command line."
                )
            ])
        }
        if let offset = bytes.firstInvalidUTF8 {
            throw PolicyFileFaults(faults: [
                PolicyFileFault(
                    FilePosition(offset: offset, in: bytes),
                    "not UTF-8: the byte 0x\(String(bytes[offset], radix: 16, uppercase: true))",
                    hint: "Save the file in UTF-8."
                )
            ])
        }
        let root: YAMLNode?
        do throws(PolicyFileFault) {
            root = try YAMLReader.document(bytes)
        } catch {
            throw PolicyFileFaults(faults: [error])
        }
        var reader = PolicyDocumentReader()
        reader.read(root)
        guard reader.faults.isEmpty else {
            throw PolicyFileFaults(faults: reader.faults.sorted { $0.position < $1.position })
        }
        self = reader.document
    }
}

extension [UInt8] {
    /// The offset of the first byte that is not part of UTF-8; nil if all are.
    fileprivate var firstInvalidUTF8: Int? {
        guard String(validating: self, as: UTF8.self) == nil else { return nil }
        var offset = 0
        var decoder = Unicode.UTF8.ForwardParser()
        var iterator = makeIterator()
        while true {
            switch decoder.parseScalar(from: &iterator) {
            case .valid(let scalar): offset += scalar.count
            case .error: return offset
            case .emptyInput: return nil
            }
        }
    }
}

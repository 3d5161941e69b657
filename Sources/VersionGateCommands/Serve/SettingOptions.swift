import ArgumentParser
import Configuration
import PolicyServer

/// The settings of the server that are options: a property of the setting's name for each.
struct SettingOptions: ParsableArguments {
    @Option(help: .setting("host")) var host: String?
    @Option(help: .setting("port")) var port: String?
    @Option(help: .setting("managementHost")) var managementHost: String?
    @Option(help: .setting("managementPort")) var managementPort: String?
    @Option(help: .setting("managementNames")) var managementNames: String?
    @Option(help: .setting("pagesPasswordFile"), completion: .file()) var pagesPasswordFile: String?
    @Option(help: .setting("countInterval")) var countInterval: String?
    @Option(help: .setting("countKeys")) var countKeys: String?
    @Option(help: .setting("countDays")) var countDays: String?
    @Option(help: .setting("rateLimit")) var rateLimit: String?
    @Option(help: .setting("trustedProxies")) var trustedProxies: String?
    @Option(help: .setting("maxConnections")) var maxConnections: String?
    @Option(help: .setting("maxConnectionsPerAddress")) var maxConnectionsPerAddress: String?
    @Option(help: .setting("tlsCertificate"), completion: .file()) var tlsCertificate: String?
    @Option(help: .setting("tlsKey"), completion: .file()) var tlsKey: String?
    @Option(help: .setting("lockoutKey"), completion: .file()) var lockoutKey: String?
    @Option(help: .setting("brakeFile"), completion: .file()) var brakeFile: String?
    @Option(help: .setting("drainSeconds")) var drainSeconds: String?
    @Option(help: .setting("logFormat")) var logFormat: String?
    @Option(help: .setting("logLevel")) var logLevel: String?

    /// Reads the settings: options win over the environment.
    var config: ConfigReader {
        ConfigReader(providers: [InMemoryProvider(values: values), EnvironmentVariablesProvider()])
    }

    /// The options that were given. The properties are read by reflection, so that none is listed twice.
    private var values: [AbsoluteConfigKey: ConfigValue] {
        let options = Mirror(reflecting: self).children.compactMap { property in
            (property.value as? Option<String?>).map {
                (name: property.label?.dropFirst() ?? "", value: $0.wrappedValue)
            }
        }
        return Setting.all.reduce(into: [:]) { values, setting in
            guard let value = options.first(where: { $0.name == setting.name })?.value else { return }
            values[AbsoluteConfigKey(setting.key)] = ConfigValue(.string(value), isSecret: false)
        }
    }
}

extension ArgumentHelp {
    /// The help of a setting.
    ///
    /// - Precondition: There is a setting of this name, and it is an option.
    fileprivate static func setting(_ name: String) -> ArgumentHelp {
        guard let setting = Setting.all.first(where: { $0.name == name }), let valueName = setting.valueName else {
            preconditionFailure("\(name) is no setting that is an option")
        }
        let defaultText = setting.defaultText.map { "; default: \($0)" } ?? ""
        return ArgumentHelp("\(setting.help) (environment: \(setting.variable)\(defaultText))", valueName: valueName)
    }
}

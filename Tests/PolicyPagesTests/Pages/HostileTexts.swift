/// Texts that mean something to HTML, SVG, templates, addresses, shells, terminals and browsers.
enum HostileTexts {
    static let all = [
        "<script>alert(1)</script>", "</title><script>alert(1)</script>", "</textarea><img src=x onerror=alert(1)>",
        "\"><svg onload=alert(1)>", "' autofocus onfocus='alert(1)", "\" autofocus onfocus=\"alert(1)",
        "\"\u{301} onfocus=alert(1) autofocus x=\"", "\"\u{FE0F}onmouseover=alert(1)",
        "<\u{338}script>alert(1)</script>",
        ">\u{301}<\u{301}img src=x>", "'\u{20DD}onclick=alert(1)", "&lt;script&gt;", "&#60;script&#62;",
        "&amp;lt;b&amp;gt;",
        "&\u{301}quot;", "<!-- ", "-->", "<![CDATA[", "]]>", "<?xml version=\"1.0\"?>", "<!doctype html>",
        "</style><style>body{display:none}", "</svg><script>alert(1)</script>",
        "<svg><a xlink:href=\"javascript:alert(1)\">",
        "<math><mtext></p><img src=x onerror=alert(1)>", "<iframe srcdoc='<script>alert(1)</script>'>",
        "<base href=//evil.example>", "<meta http-equiv=refresh content='0;url=//evil.example'>",
        "<form action=//evil.example><input name=x>", "<link rel=stylesheet href=//evil.example/x.css>",
        "javascript:alert(1)", "JaVaScRiPt:alert(1)", "data:text/html,<script>alert(1)</script>", "//evil.example/x",
        "\\\\evil.example\\x", "https://evil.example\" onclick=\"alert(1)", "{{{title}}}", "{{#rules}}{{/rules}}",
        "{{> layout}}", "{{% CONTENT_TYPE: TEXT}}", "{{=<% %>=}}", "${7*7}", "#{7*7}", "{app}{target}{app}",
        "../../assets/pages.js", "%3Cscript%3E", "%00", "?days=1&days=2#x", "a\u{202E}gpj.exe",
        "\u{2066}\u{2067}x\u{2069}",
        "\u{1B}[31mred\u{1B}]8;;https://evil.example\u{7}", "x\u{0}y\u{8}\u{7F}\u{85}", "'; DROP TABLE rules; --",
        "$(touch /tmp/x)`id`", "=HYPERLINK(\"https://evil.example\")", "+ADw-script+AD4-alert(1)",
        "x\u{FEFF}<script>", "\u{FF1C}script\u{FF1E}", "<a href='javascript:alert(1)'>", "`onmouseover=alert(1)",
        String(repeating: "<", count: 60), String(repeating: "\"", count: 60),
    ]
}

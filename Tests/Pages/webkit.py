"""Opens a page at the origins of apps in WebKit, and prints what its scripts return. Standard input says which."""

import json
import sys

import gi

gi.require_version("Gtk", "3.0")
gi.require_version("WebKit2", "4.1")
from gi.repository import Gio, GLib, Gtk, WebKit2

task = json.load(sys.stdin)
page = task["page"].encode()
steps = [(origin, script) for origin in task["origins"] for script in [None, *task["scripts"]]]
told = []


def give(request):
    request.finish(Gio.MemoryInputStream.new_from_bytes(GLib.Bytes.new(page)), len(page), "text/html")


context = WebKit2.WebContext.new_ephemeral()
for one in task["origins"]:
    scheme = one.split(":")[0]
    context.register_uri_scheme(scheme, give)
    context.get_security_manager().register_uri_scheme_as_secure(scheme)
    context.get_security_manager().register_uri_scheme_as_cors_enabled(scheme)
view = WebKit2.WebView.new_with_context(context)
window = Gtk.OffscreenWindow()
window.add(view)
window.show_all()


def go_on():
    if not steps:
        return Gtk.main_quit()
    origin, script = steps[0]
    if script is None:
        return view.load_uri(f"{origin}/")
    view.call_async_javascript_function(script, -1, None, None, None, None, returned)


def returned(_, result):
    steps.pop(0)
    try:
        told[-1].append(view.call_async_javascript_function_finish(result).to_string())
    except GLib.Error as error:
        told[-1].append(error.message)
    go_on()


def loaded(_, event):
    if event == WebKit2.LoadEvent.FINISHED and steps and steps[0][1] is None:
        steps.pop(0)
        told.append([])
        go_on()


view.connect("load-changed", loaded)
GLib.idle_add(go_on)
Gtk.main()
print(json.dumps(told))

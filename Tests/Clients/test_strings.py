#!/usr/bin/env python3
"""The table of texts, and what each platform reads in the files that are made from it."""

import json
import os
import re
import sys
import tempfile
import unicodedata
import unittest
import xml.etree.ElementTree

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "Clients"))
sys.dont_write_bytecode = True
import strings  # noqa: E402

HARD = {key: text for key, text in zip(strings.KEYS, (
    "It's", 'Say "yes"', "@string/x", "?attr", "a & b < c > d", "back\\slash \\n \\u0041", "100 %s {x}", "<b>bold</b>"))}


def read_android(content):
    """As aapt reads it: the backslash quotes, and what begins with @ or ? unquoted is a reference."""
    texts = {}
    for element in xml.etree.ElementTree.fromstring(content):
        assert len(element) == 0, "no markup"
        raw = element.text
        assert not re.match("[@?]", raw) and not re.search(r"""(?<!\\)(\\\\)*["']""", raw), raw
        words = element.attrib["name"].removeprefix("versiongate_").split("_")
        texts[words[0] + "".join(word.capitalize() for word in words[1:])] = re.sub(r"\\(.)", r"\1", raw)
    return texts


def read_apple(content):
    catalogue = json.loads(content)
    assert catalogue["sourceLanguage"] == "en" and catalogue["version"] == "1.0"
    texts, unread = {}, set()
    for key, entry in catalogue["strings"].items():
        for language, localization in entry["localizations"].items():
            language = "zh" if language == "zh-Hans" else language
            texts.setdefault(language, {})[key.removeprefix("versiongate.")] = localization["stringUnit"]["value"]
            if localization["stringUnit"]["state"] == "needs_review":
                unread.add(language)
    return texts, unread


def read_arb(content):
    members = json.loads(content)
    return members["@@locale"].replace("_", "-"), {
        name[11].lower() + name[12:]: text.replace("''", "'") for name, text in members.items() if name[0] != "@"}


class StringsTests(unittest.TestCase):
    def setUp(self):
        self.texts, self.unread = strings.table()

    def test_the_english_texts_in_the_sample_for_ios_are_those_of_the_table(self):
        with open(os.path.join(ROOT, "Clients", "Swift", "Samples", "GateScreens.swift"), encoding="utf-8") as file:
            table = re.search(r"let english = \[(.*?)\]", file.read(), re.S)[1]
        found = dict(re.findall(r'"(\w+)": "([^"]*)"', table))
        self.assertEqual(found, {key: self.texts["en"][key] for key in strings.KEYS[:6]})

    def test_at_least_thirty_languages_have_each_text(self):
        self.assertGreaterEqual(len(self.texts), 30)
        self.assertEqual(self.texts["en"]["tryAgain"], "Try again")
        self.assertNotIn("en", self.unread)
        for language, row in self.texts.items():
            self.assertEqual(tuple(row), strings.KEYS, language)

    def test_a_text_fits_a_button_and_has_nothing_that_steers(self):
        for language, row in self.texts.items():
            for key, text in row.items():
                self.assertLessEqual(len(text), 28, (language, text))
                self.assertEqual(text, unicodedata.normalize("NFC", text), (language, key))
                # Persian and Telugu need the zero-width non-joiner.
                steering = [c for c in text if unicodedata.category(c) in ("Cc", "Cf", "Co", "Cn") and c != "\u200c"]
                self.assertEqual(steering, [], (language, key))
                self.assertFalse(re.search("[.!…:]$", text), (language, text))
            self.assertEqual(len({row[key] for key in ("update", "open", "later", "skip", "close", "tryAgain")}), 6, language)

    def test_texts_are_in_the_script_of_their_language(self):
        scripts = {"ar": "ARABIC", "fa": "ARABIC", "ur": "ARABIC", "he": "HEBREW", "el": "GREEK", "hi": "DEVANAGARI",
                   "mr": "DEVANAGARI", "bn": "BENGALI", "ta": "TAMIL", "te": "TELUGU", "th": "THAI", "ko": "HANGUL",
                   "zh": "CJK", "zh-Hant": "CJK", **dict.fromkeys(("bg", "kk", "mk", "ru", "sr", "uk"), "CYRILLIC")}
        for language, row in self.texts.items():
            wanted = (scripts.get(language, "LATIN"),) if language != "ja" else ("CJK", "HIRAGANA", "KATAKANA")
            for text in row.values():
                for character in filter(str.isalpha, text):
                    name = unicodedata.name(character)
                    self.assertTrue(name.startswith((*wanted, "KATAKANA-HIRAGANA")), (language, text, name))

    def test_each_format_has_each_text_uncut(self):
        for texts, unread in ((self.texts, self.unread), ({"en": HARD, "he": HARD, "zh-Hant": HARD}, {"he"})):
            read, marked = read_apple(strings.apple(texts, unread)["VersionGate.xcstrings"])
            self.assertEqual((read, marked), (texts, unread))
            folders = strings.android(texts, unread)
            self.assertEqual(len(folders), len(texts))
            names = {"values": "en", "values-iw": "he", "values-in": "id", "values-zh-rTW": "zh-Hant"}
            read = {}
            for path, content in folders.items():
                folder = path.removesuffix("/strings.xml")
                language = names.get(folder, folder.removeprefix("values-").replace("-r", "-"))
                read[language] = read_android(content)
                self.assertEqual(strings.UNREAD in content, language in unread)
            self.assertEqual(read, texts)
            read = {path.removesuffix(".json"): json.loads(text) for path, text in strings.plain(texts, unread).items()}
            self.assertEqual(read, texts)
            self.assertEqual(dict(map(read_arb, strings.arb(texts, unread).values())), texts)

    def test_the_table_of_the_web_component_is_made_from_it(self):
        with open(os.path.join(ROOT, "Clients/JavaScript/mount.js"), encoding="utf-8") as file:
            code = file.read()
        made = strings.with_table(code, strings.web(self.texts, self.unread))
        self.assertEqual(code, made, "run Clients/strings.py .build/strings")

    def test_a_table_that_lacks_something_is_refused(self):
        row = dict(HARD)
        wrong = {
            '{"en": {}, "en": {}}': "en appears twice",
            json.dumps({"en": {**row, "more": "x"}}): "each language has update, open,",
            json.dumps({"en": dict(list(row.items())[1:])}): "each language has update, open,",
            json.dumps({"en": {**row, "close": ""}}): "close in en is no text",
            json.dumps({"en": {**row, "close": "Close "}}): "close in en is no text",
            json.dumps({"en": {**row, "close": 1}}): "close in en is no text",
            json.dumps({"english": row}): "'english' is no language tag",
            json.dumps({"en": row, "de": row}): "not in the order",
            "{": "Expecting",
        }
        for content, words in wrong.items():
            with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
                file.write(content)
                file.flush()
                with self.assertRaises(ValueError, msg=content) as caught:
                    strings.table(file.name)
                self.assertIn(words, str(caught.exception))


if __name__ == "__main__":
    unittest.main()

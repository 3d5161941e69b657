package android.content;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** Stands in for Android's, as far as the tests need it. */
public interface SharedPreferences {
    /** The only file. */
    Stored FILE = new Stored();

    String getString(String name, String otherwise);

    Editor edit();

    /** Changes the file. */
    interface Editor {
        Editor putString(String name, String text);

        void apply();
    }

    /** A file in memory. */
    class Stored implements SharedPreferences, Editor {
        public final Map<String, String> texts = new ConcurrentHashMap<>();

        @Override
        public String getString(String name, String otherwise) {
            return texts.getOrDefault(name, otherwise);
        }

        @Override
        public Editor edit() {
            return this;
        }

        @Override
        public Editor putString(String name, String text) {
            if (text == null) {
                texts.remove(name);
            } else {
                texts.put(name, text);
            }
            return this;
        }

        @Override
        public void apply() {}
    }
}

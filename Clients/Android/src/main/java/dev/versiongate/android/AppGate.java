package dev.versiongate.android;

import android.content.Context;
import android.content.SharedPreferences;
import android.content.pm.PackageInfo;
import android.content.pm.PackageManager;
import android.os.Build;
import dev.versiongate.VersionGate;
import java.util.Locale;
import org.jspecify.annotations.NullMarked;
import org.jspecify.annotations.Nullable;

/** Says what Android knows of the app. */
@NullMarked
public final class AppGate {
    private AppGate() {}

    /**
     * A builder that has the package, version, build, platform, system, country and language of the app, and keeps what the
     * library remembers in a file of preferences of its own.
     *
     * @param server where the server is: {@code https://gate.example.com}
     */
    @SuppressWarnings("deprecation") // getLongVersionCode is newer than API 21.
    public static VersionGate.Builder builder(Context context, String server) {
        Context app = context.getApplicationContext();
        Locale locale = Locale.getDefault();
        VersionGate.Builder builder = new VersionGate.Builder(server, app.getPackageName(), new SettingsStorage(app))
            .platform("android").os(Build.VERSION.RELEASE).region(locale.getCountry()).language(locale.toLanguageTag());
        try {
            PackageInfo info = app.getPackageManager().getPackageInfo(app.getPackageName(), 0);
            return builder.version(info.versionName).buildNumber(Integer.toString(info.versionCode));
        } catch (PackageManager.NameNotFoundException error) {
            return builder;
        }
    }

    private static final class SettingsStorage implements VersionGate.Storage {
        private final Context context;

        SettingsStorage(Context context) {
            this.context = context;
        }

        @Override
        public @Nullable String read() {
            return settings().getString(VersionGate.NAME, null);
        }

        @Override
        public void write(@Nullable String text) {
            settings().edit().putString(VersionGate.NAME, text).apply();
        }

        /** Opening the file reads it, so not on the main thread. */
        private SharedPreferences settings() {
            return context.getSharedPreferences(VersionGate.NAME, Context.MODE_PRIVATE);
        }
    }
}

package android.content;

import android.content.pm.PackageManager;

/** Stands in for Android's, as far as the tests need it. */
public abstract class Context {
    public abstract Context getApplicationContext();

    public String getPackageName() {
        return "com.example.doto";
    }

    public PackageManager getPackageManager() {
        return new PackageManager();
    }

    public SharedPreferences getSharedPreferences(String name, int mode) {
        return SharedPreferences.FILE;
    }
}

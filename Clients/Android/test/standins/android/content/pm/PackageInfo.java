package android.content.pm;

/** Stands in for Android's, as far as the tests need it. */
public class PackageInfo {
    public int versionCode = 42;
    public String versionName = "1.0";
}

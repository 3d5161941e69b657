package android.content.pm;

/** Stands in for Android's, as far as the tests need it. */
public class PackageManager {
    /** No such app is installed. */
    public static class NameNotFoundException extends Exception {
        private static final long serialVersionUID = 1;
    }

    public PackageInfo getPackageInfo(String name, int flags) throws NameNotFoundException {
        return new PackageInfo();
    }
}

package android.os;

/** Stands in for Android's, as far as the tests need it. */
public class Build {
    /** The system. */
    public static class VERSION {
        public static String RELEASE = "14";
        public static int SDK_INT = 21;
    }
}

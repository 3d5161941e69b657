package android.util;

/** Stands in for Android's, as far as the tests need it. */
public class DisplayMetrics {}

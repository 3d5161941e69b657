package android.os;

/** Stands in for Android's, as far as the tests need it. */
public class Bundle {}

package java.lang.invoke;

/** javac looks for it where there is a lambda; tools of Android replace it. */
public class CallSite {}

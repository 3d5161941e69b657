package java.lang.invoke;

/** javac looks for it where there is a lambda; tools of Android replace it. */
public class LambdaMetafactory {
    /** The same. */
    public static CallSite metafactory(
        MethodHandles.Lookup caller, String name, MethodType type, MethodType method, MethodHandle body, MethodType instance) {
        return new CallSite();
    }

    /** The same. */
    public static CallSite altMetafactory(MethodHandles.Lookup caller, String name, MethodType type, Object... arguments) {
        return new CallSite();
    }
}

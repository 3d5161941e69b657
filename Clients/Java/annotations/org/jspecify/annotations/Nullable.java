package org.jspecify.annotations;

/** May be null. Stands in for JSpecify when the library is compiled; it is not in its artifact. */
@java.lang.annotation.Retention(java.lang.annotation.RetentionPolicy.RUNTIME)
@java.lang.annotation.Target(java.lang.annotation.ElementType.TYPE_USE)
public @interface Nullable {}

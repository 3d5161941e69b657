package org.jspecify.annotations;

/** What is not marked Nullable in it is not null. Stands in for JSpecify when the library is compiled; it is not in its artifact. */
@java.lang.annotation.Retention(java.lang.annotation.RetentionPolicy.RUNTIME)
@java.lang.annotation.Target({java.lang.annotation.ElementType.PACKAGE, java.lang.annotation.ElementType.TYPE})
public @interface NullMarked {}

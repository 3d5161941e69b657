package android.app;

import android.content.DialogInterface;

/** Stands in for Android's, as far as the tests need it. */
public class Dialog implements DialogInterface {
    @Override
    public void dismiss() {}
}

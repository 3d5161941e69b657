package android.content;

/** Stands in for Android's, as far as the tests need it. */
public interface DialogInterface {
    void dismiss();

    /** Hears of a button. */
    interface OnClickListener {
        void onClick(DialogInterface dialog, int which);
    }

    /** Hears of the person who goes back. */
    interface OnCancelListener {
        void onCancel(DialogInterface dialog);
    }
}

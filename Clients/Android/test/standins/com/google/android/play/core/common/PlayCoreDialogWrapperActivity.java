package com.google.android.play.core.common;

import android.app.Activity;

/** What Play's library starts in the app, to open its screen from there. */
public final class PlayCoreDialogWrapperActivity extends Activity {}

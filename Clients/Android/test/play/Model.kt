package com.google.android.play.core.install.model

object AppUpdateType {
    const val FLEXIBLE = 0
    const val IMMEDIATE = 1
}

object UpdateAvailability {
    const val UPDATE_NOT_AVAILABLE = 1
}

object InstallStatus {
    const val DOWNLOADED = 11
}

object ActivityResult {
    const val RESULT_IN_APP_UPDATE_FAILED = 1
}

import android.app.Activity
import android.content.Context
import com.google.android.play.core.appupdate.*
import com.google.android.play.core.install.model.*
import dev.versiongate.android.Updater

class PlayUpdater(context: Context, private val ask: (restart: () -> Unit) -> Unit) : Updater {
    private val manager = AppUpdateManagerFactory.create(context)
    private val restart: () -> Unit = { manager.completeUpdate() }

    init {
        manager.registerListener { if (it.installStatus() == InstallStatus.DOWNLOADED) ask(restart) }
    }

    override fun update(activity: Activity, immediate: Boolean, otherwise: Runnable) {
        val type = if (immediate) AppUpdateType.IMMEDIATE else AppUpdateType.FLEXIBLE
        manager.appUpdateInfo.addOnFailureListener { otherwise.run() }.addOnSuccessListener { info ->
            if (info.installStatus() == InstallStatus.DOWNLOADED) return@addOnSuccessListener restart()
            val isThere = info.updateAvailability() != UpdateAvailability.UPDATE_NOT_AVAILABLE
            if (!isThere || !info.isUpdateTypeAllowed(type)) return@addOnSuccessListener otherwise.run()
            manager.startUpdateFlow(info, activity, AppUpdateOptions.defaultOptions(type))
                .addOnFailureListener { otherwise.run() }
                .addOnSuccessListener { if (it == ActivityResult.RESULT_IN_APP_UPDATE_FAILED) otherwise.run() }
        }
    }
}

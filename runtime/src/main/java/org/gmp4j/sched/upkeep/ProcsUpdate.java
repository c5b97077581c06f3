// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.sched.upkeep;

import java.util.function.IntSupplier;

import org.gmp4j.config.Placement;
import org.gmp4j.ffi.NativeException;
import org.gmp4j.sched.Preempt;
import org.gmp4j.sched.StopTheWorld;
import org.gmp4j.sched.base.Scheduler;
import org.gmp4j.struct.Schedt;

/** {@code sysmonUpdateGOMAXPROCS}: makes sysmon follow the CPUs of the process and its limits of CPU time. */
final class ProcsUpdate {
    private ProcsUpdate() {
    }

    /**
     * Adapts the placement to the CPUs of the process. Adapts the number of Ps to the CPUs and limits, unless a user has set it. Called by
     * sysmon.
     */
    static void update(Scheduler s) {
        // If Ps cannot be taken, a goroutine that does not yield could hold sysmon up here.
        if (!Preempt.possible() || Schedt.CLOSING.getAcquire(s.sched) != 0) {
            return;
        }
        Placement placement = s.placement;
        Placement changed;
        boolean byHand;
        int n;
        try {
            changed = placement.dealer().again();
            IntSupplier auto = s.config.autoProcs();
            byHand = s.procsByHand() || auto == null;
            n = byHand || auto == null ? s.gomaxprocs() : Math.min(auto.getAsInt(), (changed == null ? placement : changed).mostProcs());
        } catch (NativeException refused) {
            return; // The kernel refuses the information. The next call asks again.
        }
        if (n != s.gomaxprocs() || changed != null) {
            try {
                boolean _ = StopTheWorld.tryResize(s, n, changed, byHand); // If it fails, the next call tries again.
            } catch (IllegalStateException closed) {
                // The scheduler was closed after the check, and sysmon ends.
            }
        }
    }
}

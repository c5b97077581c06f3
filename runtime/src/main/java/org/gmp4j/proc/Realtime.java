// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.proc;

import org.gmp4j.ffi.NativeException;
import org.gmp4j.ffi.OsThread;
import org.gmp4j.print.Stderr;

/** Threads of a scheduler under {@code SCHED_FIFO}, where that is permitted. What they start does not inherit it: a flag prevents that. */
final class Realtime {
    private Realtime() {
    }

    /**
     * On a thread of the runtime, after {@link CleanStart#begin}.
     *
     * @param more how much above the priority of Ms
     */
    static void begin(Scheduler s, int more) {
        int priority = s.config.realtime();
        if (priority == 0) {
            return;
        }
        try {
            OsThread.setScheduler(0, OsThread.SCHED_FIFO | OsThread.RESET_ON_FORK, priority + more);
        } catch (NativeException e) {
            if (s.realtimeRefused.compareAndSet(false, true)) {
                Stderr.tryPrint("gmp4j: threads of ", s.name, " run under the usual policy: ", String.valueOf(e.getMessage()),
                        "; real time needs CAP_SYS_NICE, or ulimit -r ", String.valueOf(priority + 1));
            }
        }
    }
}

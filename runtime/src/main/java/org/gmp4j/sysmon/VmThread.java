// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.sysmon;

import org.gmp4j.ffi.OsThread;

/**
 * HotSpot's VM thread, which carries out each {@link org.gmp4j.agent.Points#nudge}. Where the goroutine that is to be nudged has
 * the only CPU, that thread would wait for the end of the goroutine's kernel slice. Waits of 3 to 5 ms were seen, longer than the runs
 * that were to be cut short. So it gets short slices, as sysmon has. GC threads that it starts inherit them, which changes no one's share.
 */
final class VmThread {
    /** Guarded by the class: several schedulers' sysmons come here. */
    private static boolean done;

    private VmThread() {
    }

    /** Once a process. What fails is left as it is: nudges come later then. */
    static synchronized void hurry(long sliceNanos) {
        if (!done) {
            done = true;
            boolean _ = setSlice(sliceNanos);
        }
    }

    static boolean setSlice(long nanos) {
        return OsThread.setVmSlice(nanos);
    }
}

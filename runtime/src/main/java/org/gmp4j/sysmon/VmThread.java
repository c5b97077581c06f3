// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.sysmon;

import org.gmp4j.ffi.OsThread;

/**
 * Gives HotSpot's VM thread short kernel slices. That thread carries out each {@link org.gmp4j.agent.Points#nudge}. Where the goroutine
 * that is to be nudged has the only CPU, the VM thread would wait for the end of the goroutine's kernel slice, which may be longer than the
 * run that the nudge is to cut short. With short slices, as sysmon has, the kernel runs it at once. GC threads that it starts inherit the
 * short slices, which changes no thread's share of the CPU.
 */
final class VmThread {
    /** Guarded by the lock of the class: the sysmons of several schedulers call {@link #hurry}. */
    private static boolean done;

    private VmThread() {
    }

    /** Sets the slice of the VM thread, in ns, at the first call in the process. If that fails, nudges only take longer. */
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

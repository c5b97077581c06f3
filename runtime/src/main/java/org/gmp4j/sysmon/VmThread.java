// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.sysmon;

import org.gmp4j.ffi.OsThread;

/**
 * Gives HotSpot's VM thread short kernel slices. That thread carries out each {@link org.gmp4j.agent.Points#nudge}. If the goroutine to be
 * nudged runs on the only CPU, the VM thread would wait until the kernel slice of the goroutine's thread ends. By then the overrun may be
 * over. With short slices, as sysmon has, the kernel runs the VM thread at once. GC threads that the VM thread starts inherit the short
 * slices. The length of a slice changes no thread's share of the CPU.
 */
final class VmThread {
    /** Guarded by the lock of the class, because the sysmons of several schedulers call {@link #hurry}. */
    private static boolean done;

    private VmThread() {
    }

    /** Sets the slice of the VM thread, ns, at the first call in the process. If that fails, nudges only take longer. */
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

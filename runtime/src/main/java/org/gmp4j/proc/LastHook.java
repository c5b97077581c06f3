// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.proc;

import org.gmp4j.ffi.Futex;
import org.gmp4j.lock.ProcessEnd;
import org.gmp4j.stack.JdkShutdown;
import org.gmp4j.struct.M;
import org.gmp4j.struct.Schedt;

/**
 * Runs after all shutdown hooks of the program: wakes the threads that sleep in native code, so that they sleep in Java code ({@link
 * ProcessEnd}). The word that such a thread sleeps on stays as it is: it wakes as from any spurious wake-up. One that was about to sleep
 * may miss it, and the process ends a third of a second later.
 */
public record LastHook() implements Runnable {
    /** Before there are such threads. Once a process. */
    public static void register() {
        JdkShutdown.addLast(new LastHook());
    }

    @Override
    public void run() {
        ProcessEnd.begin();
        CleanStart.wakeTemplate();
        for (Scheduler s : LiveSchedulers.all()) {
            Futex.wake(Schedt.sysmonnoteAddress(s.sched), 1);
            for (Machine m : s.allm.machines()) {
                Futex.wake(M.parkAddress(m.mp), 1);
            }
            s.netpoll().wake(s);
        }
    }
}

// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.sched;

import java.util.concurrent.atomic.AtomicBoolean;

import org.gmp4j.Gmp;
import org.gmp4j.sched.base.Scheduler;

/** Stops the world in a full heap, while a goroutine stays inside the runtime for so long that the stop looks after the signal. */
final class FullHeapStopProgram {
    private static final long HELD_NANOS = 1_000_000_000;
    private static volatile Object ballast;

    private FullHeapStopProgram() {
    }

    private static void fill() {
        for (int size = 1 << 16; size >= 16;) {
            try {
                ballast = new Object[] {ballast, new byte[size]};
            } catch (OutOfMemoryError e) {
                size /= 4;
            }
        }
    }

    public static void main(String[] args) throws Exception {
        try (Gmp gmp = Gmp.builder().procs(1).build()) {
            Scheduler s = gmp.call(() -> GStack.current().scheduler());
            AtomicBoolean inside = new AtomicBoolean();
            AtomicBoolean ran = new AtomicBoolean();
            Runnable body = () -> ran.set(true);
            StopTheWorld.withWorldStopped(s, body);
            ran.set(false);
            gmp.go(() -> {
                GStack st = GStack.enter();
                inside.set(true);
                for (long end = System.nanoTime() + HELD_NANOS; System.nanoTime() < end;) {
                    Thread.onSpinWait();
                }
                GStack.exit(st);
            });
            while (!inside.get()) {
                Thread.onSpinWait();
            }
            fill();
            boolean thrown = false;
            try {
                StopTheWorld.withWorldStopped(s, body);
            } catch (OutOfMemoryError e) {
                thrown = true;
            }
            ballast = null;
            System.out.println("stopped " + ran.get() + ", thrown " + thrown + ", goes on " + gmp.call(() -> true));
        }
    }
}

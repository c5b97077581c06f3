// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.sched;

import java.util.ArrayList;
import java.util.List;

import org.gmp4j.Gmp;

/** A default scheduler is made; then other threads take all that the system gives; then comes the first virtual thread. */
final class FirstThreadProgram {
    private static final long LEFT = 200L << 20;

    private FirstThreadProgram() {
    }

    public static void main(String[] args) throws Throwable {
        Gmp _ = Gmp.makeDefault();
        Runnable sleeps = FirstThreadProgram::sleep;
        Runnable runs = FirstThreadProgram::runs;
        List<Thread> others = new ArrayList<>();
        AddressSpace.leave(LEFT);
        try {
            for (;;) {
                others.add(Thread.ofPlatform().daemon().start(sleeps));
            }
        } catch (OutOfMemoryError e) {
            Thread.ofVirtual().start(runs).join();
        } finally {
            AddressSpace.leaveAll();
        }
        System.exit(0);
    }

    private static void sleep() {
        try {
            Thread.sleep(Long.MAX_VALUE);
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    private static void runs() {
        System.out.println("ran on " + Thread.currentThread().isVirtual());
    }
}
